import { chaosRun } from './chaos-run.js';

/* `npm run chaos:eventstore [rounds]`: the long form of chaos.test.ts. */

const rounds = Number(process.argv[2] ?? 20);

chaosRun(rounds, 64, (line) => console.log(line)).then(
  ({ faults, ...counts }) => {
    console.log(JSON.stringify(counts));
    for (const fault of faults.slice(0, 20)) console.error(fault);
    process.exitCode = faults.length > 0 ? 1 : 0;
  },
  (fault: unknown) => {
    console.error(fault);
    process.exitCode = 1;
  },
);
