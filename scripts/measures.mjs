// `npm run measures`: how far the house is from its plan, counted in the syntax trees.
// --check: exit code 1 while a target is not met · --json: for programs · --where [number]: also lists what was counted
import { parseArgs } from 'node:util';
import { table } from './measures/table.mjs';

const { values: options, positionals: wanted } = parseArgs({
  options: { check: { type: 'boolean' }, json: { type: 'boolean' }, where: { type: 'boolean' } },
  allowPositionals: true,
});

const rows = table();
const numbers = rows.flatMap((row) => row.numbers);
if (options.json) console.log(JSON.stringify(numbers));
else if (options.where)
  list(numbers.filter(({ key, isMet }) => (wanted.length > 0 ? wanted.includes(key) : isMet === false)));
else print(rows);
if (options.check && numbers.some(({ isMet }) => isMet === false)) process.exitCode = 1;

function print(rows) {
  const lines = [['measure', 'today', 'target', '']].concat(rows.map(cells));
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((line) => line[column].length)));
  for (const line of lines)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    );
}

function cells({ measure, numbers }) {
  const joined = (of) => numbers.map(of).join('; ');
  return [measure, joined(({ value }) => value), joined(({ target }) => target), judgement(numbers)];
}

function judgement(numbers) {
  if (numbers.some(({ isMet }) => isMet === undefined)) return 'by hand';
  return numbers.every(({ isMet }) => isMet) ? 'ok' : 'not';
}

function list(numbers) {
  for (const { key, value, target, where } of numbers) {
    console.log(`${key}: ${value}, target ${target}`);
    for (const place of where) console.log(`  ${place}`);
  }
}
