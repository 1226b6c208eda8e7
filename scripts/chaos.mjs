// `npm run chaos`: the fault suites in their long form, for minutes or hours. `npm run chaos:quick`: one run of each kind of
// fault, in less than 90 seconds. The last line is "N passed, N failed".
// CHAOS_WRITERS, CHAOS_APPENDS, CHAOS_DELETES, CHAOS_RESTARTS, CHAOS_TOURS set single sizes; CHAOS_SEED repeats a run.

/** What the quick form runs: tests by their names, and how many have them. */
const quick = [
  { test: 'keeps every acknowledged entry once', times: 1 },
  { test: 'deletes under live appends', times: 3 },
  { test: '(entry.append|scratchpad.delete), cut short by a crash', times: 2 },
  { test: 'while \\w+ (refuses|breaks in mid-reply|is started again)', times: 9 },
  { test: 'an event store whose processes are killed under load', times: 1 },
];

const isQuick = process.argv[2] === 'quick';
if (isQuick) {
  const suites = ['storm', 'deletes', 'crash-table', 'outages', 'eventstore/chaos'];
  const names = quick.map(({ test }) => test).join('|');
  process.argv.splice(2, 1, ...suites.map((suite) => `test/faults/${suite}`), '-t', names);
} else {
  process.env['CHAOS'] ??= 'full';
  process.argv.splice(2, 0, 'test/faults');
}

const { passed, failed } = await import('./test.mjs');
const wanted = quick.reduce((sum, { times }) => sum + times, 0);
if (isQuick && passed + failed < wanted) {
  console.error(`The quick form is ${wanted} tests: scripts/chaos.mjs names some that are not there any more.`);
  process.exitCode = 1;
}
