// `npm run chaos`: the fault suites in their long form, for minutes or hours. The last line is "N passed, N failed".
// CHAOS_WRITERS, CHAOS_APPENDS, CHAOS_DELETES, CHAOS_RESTARTS, CHAOS_TOURS set single sizes; CHAOS_SEED repeats a run.
process.env['CHAOS'] ??= 'full';
process.argv.splice(2, 0, 'test/faults');
await import('./test.mjs');
