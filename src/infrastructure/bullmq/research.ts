import { Queue, UnrecoverableError, Worker, type Job, type JobsOptions } from 'bullmq';
import { z } from 'zod';
import { describeFault } from '../../application/faults/describe-fault.js';
import { BackendUnavailable } from '../../application/faults/errors.js';
import type { Logger } from '../../application/ports/telemetry.js';
import type { ResearchQueue, ResearchWork } from '../../application/ports/work-queues.js';
import { pause } from '../../application/kernel/concurrency/repeat-every.js';
import { failureName, queueConnection, workerConnection } from './connections.js';
import { within } from '../../application/kernel/concurrency/deadline.js';

const queueName = 'research';
const enqueuedWithinMs = 3_000;
const runsAtOnce = 8;
const longestPauseMs = 30_000;
/** A job whose process has not been heard of for so long is another's. */
const lockMs = 10_000;
const lookEveryMs = 5_000;

export interface ResearchQueueOptions {
  readonly redisUrl: string;
  readonly log: Logger;
  /** First part of the queue's keys; `bull` unless said otherwise. */
  readonly prefix?: string;
}

export interface RunningResearchQueue {
  readonly queue: ResearchQueue;
  /**
   * Works on runs in this process until it is closed: then what is under way is handed back. `sweep` asks again for what
   * the queue may have lost, now and then.
   */
  startWorker(work: ResearchWork, sweep: () => Promise<unknown>): { close(): Promise<void> };
  /** Ends the worker if there is one, then the queue. */
  close(): Promise<void>;
}

const jobData = z.strictObject({ researchId: z.string() });
type JobData = z.output<typeof jobData>;

/**
 * Runs of research by their id. The queue says only who works on what: that a process is alive is the lock of its job, and
 * what has happened is in the run's stream.
 */
export function openResearchQueue({ redisUrl, log, prefix = 'bull' }: ResearchQueueOptions): RunningResearchQueue {
  const queue = new Queue<JobData>(queueName, { connection: queueConnection(redisUrl), prefix });
  queue.on('error', () => undefined); // Whoever enqueues is told.
  const workers = new Set<{ close(): Promise<void> }>();

  return {
    queue: {
      async enqueue(researchId) {
        try {
          await within(enqueuedWithinMs, queue.add('run', { researchId }, jobOptions(researchId)));
        } catch (failure) {
          throw new BackendUnavailable('redis', { cause: new Error(failureName(failure)) });
        }
      },
    },

    startWorker(work, sweep) {
      const stopped = new AbortController();
      const worker = new Worker<unknown>(queueName, (job) => workOn(job, work, stopped.signal, log), {
        connection: workerConnection(redisUrl),
        prefix,
        concurrency: runsAtOnce,
        lockDuration: lockMs,
        stalledInterval: lookEveryMs,
        // How often a run is taken up is counted in its stream.
        maxStalledCount: 1_000,
        settings: { backoffStrategy: (attempts) => Math.min(500 * 2 ** Math.min(attempts, 10), longestPauseMs) },
      });
      worker.on('error', (failure) => log.warn({ failure: failureName(failure) }, 'research worker has trouble'));
      const sweeping = repeat(lookEveryMs, stopped.signal, async () => {
        try {
          await sweep();
        } catch (fault) {
          log.warn(describeFault(fault), 'open research could not be looked for');
        }
      });
      const running = {
        async close() {
          workers.delete(running);
          stopped.abort();
          await Promise.all([worker.close(), sweeping]);
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

/** Jobs that ended are removed at once: a used id would make it impossible to ask for the run again. */
const jobOptions = (researchId: string): JobsOptions => ({
  jobId: researchId,
  attempts: Number.MAX_SAFE_INTEGER,
  backoff: { type: 'custom' },
  removeOnComplete: true,
  removeOnFail: true,
});

async function workOn(job: Job<unknown>, work: ResearchWork, stopped: AbortSignal, log: Logger): Promise<void> {
  const data = jobData.safeParse(job.data);
  if (!data.success) {
    log.warn({ job: job.id }, 'research without its id was dropped');
    throw new UnrecoverableError('no id');
  }
  const outcome = await work(data.data.researchId, stopped).catch((fault: unknown) => {
    log.warn({ ...describeFault(fault), ...data.data }, 'research is taken up again');
    // The job keeps this message, and the queue is no place for what a fault quotes.
    throw new Error('failed', { cause: fault });
  });
  if (outcome === 'stopped') throw new Error('stopped'); // The next worker takes it.
}

/** Does work at once and then again and again, with a pause between, until stopped. */
async function repeat(everyMs: number, stopped: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!stopped.aborted) {
    await work();
    await pause(everyMs, stopped);
  }
}
