import { z } from 'zod';
import type { PadRef } from '../../application/ports/pad-keys.js';
import type { Logger } from '../../application/ports/telemetry.js';
import type { PurgeQueue } from '../../application/ports/work-queues.js';
import { failureName } from './connections.js';
import { JobQueue, type RunningWorker } from './queue.js';

export interface PurgesOptions {
  readonly redisUrl: string;
  readonly padKeys: { destroy(pad: PadRef): Promise<number>; exists(pad: PadRef): Promise<boolean> };
  /** Called once the second pass found nothing left; it may be called again for the same pad. */
  readonly recordPurged: (pad: PadRef) => Promise<void>;
  readonly log: Logger;
  /** The second pass finds what a writer, slow by no more than this, still left behind. */
  readonly secondPassAfterMs: number;
  /** First part of the queue's keys; `bull` unless given. */
  readonly prefix?: string;
}

export interface Purges {
  readonly queue: PurgeQueue;
  /** Works on purges in this process until it is closed. */
  startWorker(): RunningWorker;
  /** Ends the workers, then the queue. */
  close(): Promise<void>;
}

const jobData = z.strictObject({
  ownerId: z.string(),
  scratchpadId: z.string(),
  pass: z.union([z.literal(1), z.literal(2)]),
});
type JobData = z.output<typeof jobData>;

/** Purges deleted scratchpads twice: at once, and again when every write that was in flight has ended. */
export function openPurges(options: PurgesOptions): Purges {
  const { redisUrl, log, prefix, secondPassAfterMs } = options;
  const jobs = new JobQueue({ name: 'purges', label: 'purge', redisUrl, logger: log, prefix, data: jobData });
  return {
    queue: { purge: (pad) => jobs.enqueue(jobFor(pad, 1, 0), jobFor(pad, 2, secondPassAfterMs)) },
    startWorker: () =>
      jobs.startWorker(
        {
          concurrency: 8,
          longestPauseMs: 60_000,
          onFailed: (failure, job) =>
            log.warn({ failure: failureName(failure), job: job?.id, attempts: job?.attemptsMade }, 'purge failed'),
        },
        (data) => purge(data, options),
      ),
    close: () => jobs.close(),
  };
}

const jobFor = ({ ownerId, scratchpadId }: PadRef, pass: JobData['pass'], delayMs: number) => ({
  name: 'purge',
  id: `purge-${scratchpadId}-${pass}`,
  data: { ownerId, scratchpadId, pass },
  delayMs,
});

async function purge({ pass, ...pad }: JobData, { padKeys, recordPurged, log }: PurgesOptions): Promise<void> {
  const found = await padKeys.destroy(pad);
  if (await padKeys.exists(pad)) throw new Error('keys are left');
  if (found > 0) log.info({ scratchpadId: pad.scratchpadId, pass, keys: found }, 'scratchpad purged');
  if (pass === 2) await recordPurged(pad);
}
