import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { UsageError } from './usage-error.js';

const line = z.strictObject({
  /** Thread id of the old system: the notebook is `scratchpad:{notebook}:notebook`. */
  notebook: z.string().min(1),
  /** The thread here that gets it. Without one a thread is made. */
  threadId: z.string().optional(),
  /** Title of the thread that is made. */
  title: z.string().optional(),
  /** File with the API key of the user who owns it, beside the map unless absolute; else the key of the command. */
  keyFile: z.string().optional(),
});
export type Mapping = z.output<typeof line>;

/**
 * Reads which notebook goes where: a JSON object on each line, or CSV whose first line names the columns. Throws
 * UsageError with the number of the line that is wrong.
 */
export function readMap(text: string, file: string): readonly Mapping[] {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((content, index) => ({ content, number: index + 1 }))
    .filter(({ content }) => content.trim() !== '');
  const isJson = lines[0]?.content.trimStart().startsWith('{') ?? true;
  const columns = isJson ? [] : cellsOf(lines[0]?.content ?? '', 1);
  const seen = new Set<string>();
  return (isJson ? lines : lines.slice(1)).map(({ content, number }) => {
    const parsed = line.safeParse(isJson ? jsonOf(content, number) : rowOf(columns, cellsOf(content, number)));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw wrong(number, issue?.path.join('.') || 'unknown columns or fields');
    }
    const { notebook, keyFile } = parsed.data;
    if (seen.has(notebook)) throw wrong(number, 'this notebook was named before');
    seen.add(notebook);
    return { ...parsed.data, ...(keyFile !== undefined && { keyFile: resolve(dirname(file), keyFile) }) };
  });
}

const wrong = (number: number, what: string) => new UsageError(`Line ${number} of the map: ${what}.`);

function jsonOf(content: string, number: number): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw wrong(number, 'not JSON');
  }
}

/** Empty cells are absent values. */
const rowOf = (columns: readonly string[], cells: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    cells.flatMap((cell, place) => (cell === '' ? [] : [[columns[place] ?? `column ${place + 1}`, cell] as const])),
  );

/** The cells of a CSV line (RFC 4180, without line breaks inside a cell). */
function cellsOf(content: string, number: number): readonly string[] {
  const cells: string[] = [];
  const cell = /\s*(?:"((?:[^"]|"")*)"|([^",]*))\s*(,|$)/y;
  for (;;) {
    const found = cell.exec(content);
    if (!found) throw wrong(number, 'not CSV');
    const [, quoted, plain = '', end] = found;
    cells.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
    if (end === '') return cells;
  }
}
