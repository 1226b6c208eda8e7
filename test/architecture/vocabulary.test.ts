import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';
import ceilings from './ceilings.json';

const numbers = z.array(z.object({ key: z.string(), value: z.union([z.number(), z.string()]) }));

const root = join(__dirname, '../..');

/** Counts with `npm run measures`, which reads the syntax trees of the whole repository. */
const counted = numbers.parse(
  JSON.parse(
    execFileSync(process.execPath, [join(root, 'scripts/measures.mjs'), '--json'], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    }),
  ),
);

/** Private names, the word that had five meanings, citations that resolve nowhere, spreads of literals. */
describe('the vocabulary of the code', () => {
  it.each(Object.entries(ceilings))('counts %s no higher than before', (key, ceiling) => {
    const value = z.number().parse(counted.find((number) => number.key === key)?.value);
    if (value < ceiling) console.info(`${key} fell from ${ceiling} to ${value}: lower its ceiling in ceilings.json.`);
    const isAbove = `${value} is above ${ceiling}; npm run measures -- --where ${key} lists them.`;
    expect(value > ceiling ? [isAbove] : []).toEqual([]);
  });
});
