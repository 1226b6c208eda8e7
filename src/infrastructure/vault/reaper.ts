import { describeFault } from '../../application/faults/describe-fault.js';
import { pause, repeatEvery } from '../../application/kernel/concurrency/repeat-every.js';
import type { Logger } from '../../application/ports/telemetry.js';

export interface Reaper {
  close(): Promise<void>;
}

/** Reaps stale enrollments again and again, one round at a time; the first after a pause. Faults are logged. */
export function startReaper(reap: () => Promise<number>, log: Logger, everyMs = 15_000): Reaper {
  const stop = new AbortController();
  const reaping = pause(everyMs, stop.signal).then(() =>
    repeatEvery(everyMs, stop.signal, async () => {
      try {
        const count = await reap();
        if (count > 0) log.info({ count }, 'stale enrollments were ended');
      } catch (fault) {
        log.warn(describeFault(fault), 'stale enrollments could not be looked for');
      }
    }),
  );
  return {
    async close() {
      stop.abort();
      await reaping;
    },
  };
}
