import { randomUUID } from 'node:crypto';
import { compilePattern } from '../src/infrastructure/embedded/eventstore/filter/pattern.js';
import { figure, median } from './support/figures.js';

const rounds = 7;
/** The official client's own pattern first: it leaves the system's events out. */
const patterns = [
  '^[^\\$].*',
  '^(thread|scratchpad|user)-',
  '^order-(placed|paid)$',
  '-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
  '(\\w+\\.)*deleted$',
];
const names = Array.from({ length: 2000 }, (_, n) => `${n % 2 === 0 ? 'thread' : 'workspace'}-${randomUUID()}`);

/**
 * What a filter of a subscription costs for a name that it has not met; names that come again are found in a map.
 * `RegExp` stands beside, which could take for ever and is what everything is a ratio to.
 */
function main(): void {
  const compiling = nanoseconds(50, () => {
    for (const pattern of patterns) compilePattern(pattern);
  });
  figure('compile a pattern', `${Math.round(1e9 / (compiling / patterns.length))}/s`);
  for (const pattern of patterns) {
    const matches = compilePattern(pattern);
    const native = new RegExp(pattern);
    const [own, beside] = [perName(matches), perName((name) => native.test(name))];
    figure(`match ${pattern}`, `${Math.round(own)} ns, ${(own / beside).toFixed(1)} x RegExp`);
  }
}

const perName = (matches: (name: string) => boolean): number =>
  nanoseconds(20, () => {
    for (const name of names) matches(name);
  }) / names.length;

/** Median over rounds, the first of which is thrown away: by then all is compiled. */
function nanoseconds(times: number, work: () => void): number {
  const taken: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const began = process.hrtime.bigint();
    for (let time = 0; time < times; time += 1) work();
    taken.push(Number(process.hrtime.bigint() - began) / times);
  }
  return median(taken.slice(1));
}

main();
