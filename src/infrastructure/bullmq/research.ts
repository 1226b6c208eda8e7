import { z } from 'zod';
import { describeFault } from '../../application/faults/describe-fault.js';
import { repeatEvery } from '../../application/kernel/concurrency/repeat-every.js';
import type { Logger } from '../../application/ports/telemetry.js';
import type { ResearchQueue, ResearchWork } from '../../application/ports/work-queues.js';
import { JobQueue, type RunningWorker } from './queue.js';

/** Time after which a job whose process has not renewed its lock is another's. */
const lockMs = 10_000;
const sweepEveryMs = 5_000;

export interface ResearchQueueOptions {
  readonly redisUrl: string;
  readonly log: Logger;
  /** First part of the queue's keys; `bull` unless given. */
  readonly prefix?: string;
}

export interface RunningResearchQueue {
  readonly queue: ResearchQueue;
  /**
   * Works on runs in this process until it is closed; runs in progress are then handed back. `sweep` enqueues again, every
   * few seconds, what the queue may have lost.
   */
  startWorker(work: ResearchWork, sweep: () => Promise<unknown>): RunningWorker;
  /** Ends the workers, then the queue. */
  close(): Promise<void>;
}

const jobData = z.strictObject({ researchId: z.string() });

/**
 * Queues runs of research by their id. Why no more is in a job: its lock shows which process is alive, and a run's stream
 * has all that happened, the number of attempts included.
 */
export function openResearchQueue({ redisUrl, log, prefix }: ResearchQueueOptions): RunningResearchQueue {
  const jobs = new JobQueue({ name: 'research', label: 'research', redisUrl, logger: log, prefix, data: jobData });
  const settings = { concurrency: 8, longestPauseMs: 30_000, lockDuration: lockMs, stalledInterval: sweepEveryMs };
  return {
    queue: { enqueue: (researchId) => jobs.enqueue({ name: 'run', id: researchId, data: { researchId } }) },

    startWorker: (work, sweep) =>
      jobs.startWorker(
        settings,
        ({ researchId }, stopping) => workOn(researchId, work, stopping, log),
        (stopping) =>
          repeatEvery(sweepEveryMs, stopping, async () => {
            try {
              await sweep();
            } catch (fault) {
              log.warn(describeFault(fault), 'open research could not be looked for');
            }
          }),
      ),

    close: () => jobs.close(),
  };
}

async function workOn(researchId: string, work: ResearchWork, stopping: AbortSignal, log: Logger): Promise<void> {
  const outcome = await work(researchId, stopping).catch((fault: unknown) => {
    log.warn({ ...describeFault(fault), researchId }, 'research is taken up again');
    // The job keeps this message where any reader of Redis finds it; the fault's own may quote what it was about.
    throw new Error('failed', { cause: fault });
  });
  if (outcome === 'stopped') throw new Error('stopped'); // The next worker takes it.
}
