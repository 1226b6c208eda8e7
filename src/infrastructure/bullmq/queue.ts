import { Queue, UnrecoverableError, Worker, type Job, type WorkerOptions } from 'bullmq';
import type { z } from 'zod';
import { BackendUnavailable } from '../../application/faults/errors.js';
import { within } from '../../application/kernel/concurrency/deadline.js';
import type { Logger } from '../../application/ports/telemetry.js';
import { failureName, queueConnection, workerConnection } from './connections.js';

const enqueuedWithinMs = 3_000;

export interface QueueSettings<Data> {
  readonly name: string;
  /** Names the work in the log. */
  readonly label: string;
  readonly redisUrl: string;
  readonly logger: Logger;
  /** First part of the queue's keys; `bull` unless given. */
  readonly prefix?: string | undefined;
  /** What a job carries. */
  readonly data: z.ZodType<Data>;
}

export interface QueuedJob<Data> {
  readonly name: string;
  readonly data: Data;
  /** Invariant: a queue keeps at most one job of an id. */
  readonly id: string;
  readonly delayMs?: number;
}

export interface WorkerSettings extends Pick<WorkerOptions, 'lockDuration' | 'stalledInterval'> {
  readonly concurrency: number;
  /** Longest pause before a failed job is tried again. */
  readonly longestPauseMs: number;
  readonly onFailed?: (failure: Error, job: Job | undefined) => void;
}

export interface RunningWorker {
  close(): Promise<void>;
}

/** Jobs in Redis that are tried until they succeed, and the workers of this process that work on them. */
export class JobQueue<Data extends object> {
  private readonly queue: Queue;
  private readonly workers = new Set<RunningWorker>();

  constructor(private readonly settings: QueueSettings<Data>) {
    const { name, redisUrl, prefix = 'bull' } = settings;
    this.queue = new Queue(name, { connection: queueConnection(redisUrl), prefix });
    this.queue.on('error', () => undefined); // The caller of `enqueue` is rejected.
  }

  /**
   * Fails when: Redis does not answer in time → BackendUnavailable. Why finished jobs are removed at once: a used id would
   * make the next job of that id a silent nothing, and a job may be needed again after Redis has lost its tail.
   */
  async enqueue(...jobs: readonly QueuedJob<Data>[]): Promise<void> {
    const bulk = jobs.map(({ name, data, id, delayMs }) => ({
      name,
      data,
      opts: {
        jobId: id,
        ...(delayMs !== undefined && { delay: delayMs }),
        attempts: Number.MAX_SAFE_INTEGER,
        backoff: { type: 'custom' },
        removeOnComplete: true,
        removeOnFail: true,
      },
    }));
    try {
      await within(enqueuedWithinMs, this.queue.addBulk(bulk));
    } catch (failure) {
      throw new BackendUnavailable('redis', { cause: new Error(failureName(failure)) });
    }
  }

  /** Works on jobs in this process until it is closed; `stopping` is then aborted. Work that throws is tried again. */
  startWorker(
    settings: WorkerSettings,
    work: (data: Data, stopping: AbortSignal) => Promise<void>,
    meanwhile: (stopping: AbortSignal) => Promise<void> = () => Promise.resolve(),
  ): RunningWorker {
    const stop = new AbortController();
    const worker = this.open(settings, (data) => work(data, stop.signal));
    const done = meanwhile(stop.signal);
    const running = {
      close: async () => {
        this.workers.delete(running);
        stop.abort();
        await Promise.all([worker.close(), done]);
      },
    };
    this.workers.add(running);
    return running;
  }

  /** Ends the workers, then the queue. */
  async close(): Promise<void> {
    await Promise.all([...this.workers].map((worker) => worker.close()));
    await this.queue.close();
  }

  private open(
    { longestPauseMs, onFailed, ...settings }: WorkerSettings,
    work: (data: Data) => Promise<void>,
  ): Worker<unknown> {
    const { name, label, redisUrl, logger, prefix = 'bull' } = this.settings;
    const worker = new Worker<unknown>(name, async (job) => work(this.dataOf(job)), {
      ...settings,
      connection: workerConnection(redisUrl),
      prefix,
      // A job that outlives many workers is still to be done.
      maxStalledCount: 1_000,
      settings: { backoffStrategy: (attempts) => Math.min(500 * 2 ** Math.min(attempts, 10), longestPauseMs) },
    });
    worker.on('error', (failure) => logger.warn({ failure: failureName(failure) }, `${label} worker has trouble`));
    if (onFailed) worker.on('failed', (job, failure) => onFailed(failure, job));
    return worker;
  }

  private dataOf(job: Job<unknown>): Data {
    const { data, label, logger } = this.settings;
    const parsed = data.safeParse(job.data);
    if (parsed.success) return parsed.data;
    logger.warn({ job: job.id }, `${label} without its data was dropped`);
    throw new UnrecoverableError('no data');
  }
}
