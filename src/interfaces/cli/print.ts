import { isObject } from './fields.js';

/** Text of others must not steer the terminal. */
const harmless = (text: string): string =>
  text.replace(/[^\P{Control}\n\t]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\u{fffd}');

const wordOf = (value: unknown): string => {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return harmless(value.join(', '));
  return harmless(typeof value === 'string' ? value : JSON.stringify(value));
};

const widest = 48;

/** A list as a table, anything else as a tree. */
export function humanText(data: unknown): string {
  if (Array.isArray(data)) return data.every(isObject) ? table(data) : data.map(wordOf).join('\n');
  return tree(data, '');
}

function tree(value: unknown, indent: string): string {
  if (Array.isArray(value))
    return value.map((item) => `${indent}- ${tree(item, `${indent}  `).trimStart()}`).join('\n');
  if (!isObject(value)) return `${indent}${wordOf(value).replaceAll('\n', `\n${indent}`)}`;
  return Object.entries(value)
    .map(([name, member]) => {
      const isNested = (isObject(member) || Array.isArray(member)) && Object.keys(member).length > 0;
      const isLong = typeof member === 'string' && member.includes('\n');
      return isNested || isLong
        ? `${indent}${name}:\n${tree(member, `${indent}  `)}`
        : `${indent}${name}: ${wordOf(member)}`;
    })
    .join('\n');
}

function table(rows: readonly Readonly<Record<string, unknown>>[]): string {
  if (rows.length === 0) return '(none)';
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = rows.map((row) => names.map((name) => shortened(wordOf(row[name]).replaceAll(/\s+/g, ' '))));
  const widths = names.map((name, place) => Math.max(name.length, ...cells.map((row) => row[place]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, place) => cell.padEnd(widths[place] ?? 0))
      .join('  ')
      .trimEnd();
  return [names.map((name) => name.toUpperCase()), ...cells].map(line).join('\n');
}

const shortened = (text: string): string => (text.length > widest ? `${text.slice(0, widest - 1)}…` : text);
