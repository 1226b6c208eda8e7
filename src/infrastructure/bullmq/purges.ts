import { Queue, UnrecoverableError, Worker, type Job, type JobsOptions } from 'bullmq';
import { z } from 'zod';
import { BackendUnavailable } from '../../application/faults/errors.js';
import type { Logger } from '../../application/ports/telemetry.js';
import type { PadRef } from '../../application/ports/pad-keys.js';
import type { PurgeQueue } from '../../application/ports/work-queues.js';
import type { ScratchpadStore } from '../../application/ports/scratchpad-store.js';
import { failureName, queueConnection, workerConnection } from './connections.js';
import { within } from '../../application/kernel/concurrency/deadline.js';

const queueName = 'purges';
const enqueuedWithinMs = 3_000;
const longestPauseMs = 60_000;
const padsAtOnce = 8;

export interface PurgesOptions {
  readonly redisUrl: string;
  readonly working: ScratchpadStore;
  /** Told once the second pass found nothing left; must be harmless when told twice. */
  readonly recordPurged: (pad: PadRef) => Promise<void>;
  readonly log: Logger;
  /** The second pass finds what a writer, slow by no more than this, still left behind. */
  readonly secondPassAfterMs: number;
  /** First part of the queue's keys; `bull` unless said otherwise. */
  readonly prefix?: string;
}

export interface Purges {
  readonly queue: PurgeQueue;
  /** Works on purges in this process until it is closed. */
  startWorker(): { close(): Promise<void> };
  /** Ends the worker if there is one, then the queue. */
  close(): Promise<void>;
}

const jobData = z.strictObject({
  ownerId: z.string(),
  scratchpadId: z.string(),
  pass: z.union([z.literal(1), z.literal(2)]),
});
type JobData = z.output<typeof jobData>;

/** Purges deleted scratchpads twice: at once, and again when every write that was under way has ended. */
export function openPurges(options: PurgesOptions): Purges {
  const { redisUrl, log, secondPassAfterMs, prefix = 'bull' } = options;
  const queue = new Queue<JobData>(queueName, { connection: queueConnection(redisUrl), prefix });
  queue.on('error', () => undefined); // Whoever enqueues is told.
  const workers = new Set<{ close(): Promise<void> }>();

  return {
    queue: {
      async purge(pad) {
        const jobs = [jobFor(pad, 1, 0), jobFor(pad, 2, secondPassAfterMs)];
        try {
          await within(enqueuedWithinMs, queue.addBulk(jobs));
        } catch (failure) {
          throw new BackendUnavailable('redis', { cause: new Error(failureName(failure)) });
        }
      },
    },

    startWorker() {
      const worker = new Worker<unknown>(queueName, (job) => purge(job, options), {
        connection: workerConnection(redisUrl),
        prefix,
        concurrency: padsAtOnce,
        // A job that outlives many workers is still to be done.
        maxStalledCount: 1_000,
        settings: { backoffStrategy: (attempts) => Math.min(500 * 2 ** Math.min(attempts, 10), longestPauseMs) },
      });
      worker.on('error', (failure) => log.warn({ failure: failureName(failure) }, 'purge worker has trouble'));
      worker.on('failed', (job, failure) =>
        log.warn({ failure: failureName(failure), job: job?.id, attempts: job?.attemptsMade }, 'purge failed'),
      );
      const running = {
        async close() {
          workers.delete(running);
          await worker.close();
        },
      };
      workers.add(running);
      return running;
    },

    async close() {
      await Promise.all([...workers].map((worker) => worker.close()));
      await queue.close();
    },
  };
}

/**
 * Finished jobs are removed at once: a used id would make the next purge of the same pad a silent nothing, and after
 * Redis has lost its tail a pad may have to be purged again.
 */
const jobFor = ({ ownerId, scratchpadId }: PadRef, pass: JobData['pass'], delay: number) => ({
  name: 'purge',
  data: { ownerId, scratchpadId, pass },
  opts: {
    jobId: `purge-${scratchpadId}-${pass}`,
    delay,
    attempts: Number.MAX_SAFE_INTEGER,
    backoff: { type: 'custom' },
    removeOnComplete: true,
    removeOnFail: true,
  } satisfies JobsOptions,
});

async function purge(job: Job<unknown>, { working, recordPurged, log }: PurgesOptions): Promise<void> {
  const data = jobData.safeParse(job.data);
  if (!data.success) {
    log.warn({ job: job.id }, 'a purge without its data was dropped');
    throw new UnrecoverableError('no data');
  }
  const { pass, ...pad } = data.data;
  const found = await working.keys.destroy(pad);
  if (await working.keys.exists(pad)) throw new Error('keys are left');
  if (found > 0) log.info({ scratchpadId: pad.scratchpadId, pass, keys: found }, 'scratchpad purged');
  if (pass === 2) await recordPurged(pad);
}
