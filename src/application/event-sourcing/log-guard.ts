import { BackendUnavailable, LogMismatch } from '../faults/errors.js';
import { repeatEvery } from '../kernel/concurrency/repeat-every.js';
import type { Clock } from '../ports/clock.js';
import type { BoundLog, LogProbe, LogBinding } from '../ports/log-binding.js';
import type { Logger } from '../ports/telemetry.js';
import { createLogId, mismatchOf, readLogId, type Bound } from './log-identity.js';

export interface LogGuardNeeds {
  readonly log: LogProbe;
  readonly bindings: readonly LogBinding[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** The tenant in whose audit trail the log's own first event stands. */
  readonly ownerId: string;
}

const verifyEveryMs = 2_000;

/**
 * Holds every use of the event log back until the log is known to be the one that Postgres and Redis belong to
 * (docs/flows.md#another-log). Why: a stream that is empty only because the log is another one looks like a pad, a key or a
 * user that never was.
 */
export class LogGuard {
  private isVerified = false;
  private logId: string | undefined;
  private verifying: Promise<void> | undefined;
  /** Highest position that this process has seen. */
  private highest = -1n;
  private isReported = false;

  constructor(private readonly needs: LogGuardNeeds) {}

  /** Undefined when the log was verified; otherwise resolves once it is. Fails when: another log → LogMismatch. */
  hold(): Promise<void> | undefined {
    return this.isVerified ? undefined : this.verify();
  }

  /** Highest position that this process has seen. */
  seen(): bigint {
    return this.highest;
  }

  note(position: bigint): void {
    if (position > this.highest) this.highest = position;
  }

  /** After a fault of the event store: what answers next may be another log. */
  suspect(): void {
    this.isVerified = false;
  }

  /** Compares now; callers that come meanwhile share it. Fails when: another log → LogMismatch; no answer → BackendUnavailable. */
  verify(): Promise<void> {
    return (this.verifying ??= this.compare().finally(() => (this.verifying = undefined)));
  }

  /** Compares every two seconds until `ended`. Why: a log can be replaced while nobody calls. */
  async watch(ended: AbortSignal): Promise<void> {
    await repeatEvery(verifyEveryMs, ended, async () => {
      await this.verify().catch(() => undefined); // Reported, and held back from callers.
    });
  }

  /** Binds every backend to the log as it is now. Only ever on an operator's word. */
  async adopt(): Promise<string> {
    const logId = await this.name();
    const end = await this.needs.log.endPosition();
    for (const binding of this.needs.bindings) await binding.adopt(logId, end);
    return logId;
  }

  private async compare(): Promise<void> {
    try {
      const bound = await this.bound();
      const known = await readLogId(this.needs.log);
      // Read last: it is no older than any position above.
      const end = await this.needs.log.endPosition();
      const mismatch = mismatchOf(known, end, bound);
      if (mismatch !== undefined) throw new LogMismatch(mismatch);
      const logId = known ?? (await this.name());
      await this.bind(logId, end, bound);
      this.logId = logId;
      this.note(end);
      this.isVerified = true;
      this.report(undefined);
    } catch (fault) {
      this.isVerified = false;
      if (fault instanceof LogMismatch) this.report(fault);
      throw fault;
    }
  }

  private async name(): Promise<string> {
    const { log, clock, ownerId } = this.needs;
    return (await readLogId(log)) ?? createLogId(log, clock, ownerId);
  }

  /** A backend that is away says nothing; before the first comparison one of them must answer. */
  private async bound(): Promise<Bound> {
    const own = { logId: this.logId, position: this.highest };
    const bound = new Map<'postgres' | 'redis' | 'this process', BoundLog>([['this process', own]]);
    await Promise.allSettled(
      this.needs.bindings.map(async (binding) => bound.set(binding.backend, await binding.read())),
    );
    if (bound.size === 1 && this.logId === undefined) throw new BackendUnavailable('postgres');
    return bound;
  }

  private async bind(logId: string, end: bigint, bound: Bound): Promise<void> {
    const late = this.needs.bindings.filter(({ backend }) => {
      const known = bound.get(backend);
      return known && (known.logId === undefined || known.position < end);
    });
    await Promise.all(late.map((binding) => binding.note(logId, end)));
  }

  private report(mismatch: LogMismatch | undefined): void {
    const { logger } = this.needs;
    if (mismatch && !this.isReported) logger.error({}, mismatch.message);
    if (!mismatch && this.isReported) logger.info({}, 'The event log is the right one again.');
    this.isReported = mismatch !== undefined;
  }
}
