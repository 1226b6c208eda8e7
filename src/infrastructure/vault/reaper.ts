import type { Logger } from '../../application/ports/telemetry.js';
import { describeFault } from '../../application/faults/describe-fault.js';

export interface Reaper {
  close(): Promise<void>;
}

/** Looks for stale enrollments again and again, one look at a time. What a look meets is told to the log. */
export function startReaper(reap: () => Promise<number>, log: Logger, everyMs = 15_000): Reaper {
  let closed = false;
  let looking: Promise<void> = Promise.resolve();
  const look = async () => {
    try {
      const count = await reap();
      if (count > 0) log.info({ count }, 'stale enrollments were ended');
    } catch (fault) {
      log.warn(describeFault(fault), 'stale enrollments could not be looked for');
    }
    if (!closed) timer = setTimeout(begin, everyMs);
  };
  const begin = () => void (looking = look());
  let timer = setTimeout(begin, everyMs);
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
