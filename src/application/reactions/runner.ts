import { Mutex } from 'async-mutex';
import { untilAborted } from '../kernel/concurrency/repeat-every.js';
import type { StoredEvent } from '../ports/event-store.js';
import type { ReactionJournal } from '../ports/reaction-journal.js';
import { Effects, type EffectsNeeds } from './effects.js';
import type { Reaction } from './reaction.js';

export interface ReactionRunnerNeeds extends Omit<EffectsNeeds, 'pauseMs'> {
  /** Called with the position that the event store is known to reach, before the effects of what was read. */
  readonly raiseWatermark?: (position: bigint) => void;
  /** First pause before a failed effect is tried again, in milliseconds; it doubles with each try. */
  readonly pauseMs?: number;
}

/** How many partitions have effects at the same time, at most. */
const maxPartitions = 32;
/** How often stretches without anything to react to move the checkpoint, at most. */
const advanceEveryMs = 1_000;

/**
 * Runs the effects of events until `ended`.
 * Invariant: each happens at least once, in the order of the log within a partition; one runner per installation, whose
 * caller holds the lease.
 * Fails when: an effect fails ten times → it is parked and the others go on; a backend is away → the effect waits for it;
 * another runner moved the checkpoint → CheckpointMoved.
 */
export const runReactions = (needs: ReactionRunnerNeeds, journal: ReactionJournal, ended: AbortSignal): Promise<void> =>
  new ReactionRun({ pauseMs: 100, raiseWatermark: () => undefined, ...needs }, journal, ended).run();

class ReactionRun {
  private checkpoint = -1n;
  private advancedAt = 0;
  private readonly advancing = new Mutex();
  private readonly failed = new AbortController();
  private readonly over: AbortSignal;
  private readonly effects: Effects;

  constructor(
    private readonly needs: Required<ReactionRunnerNeeds>,
    private readonly journal: ReactionJournal,
    ended: AbortSignal,
  ) {
    this.over = AbortSignal.any([ended, this.failed.signal]);
    this.effects = new Effects(needs, journal, this.over);
  }

  async run(): Promise<void> {
    const { events, reactions } = this.needs;
    this.checkpoint = await this.journal.checkpoint();
    for (const { reset } of reactions) reset?.();
    await this.effects.retryParked();
    const subscription = events.subscribe(
      this.checkpoint < 0n ? undefined : this.checkpoint,
      {
        events: (batch) => this.guarded(() => this.react(batch)),
        // Nobody awaits this: `guarded` has ended the run with the fault, and `run` throws it.
        caughtUp: (position) => void this.guarded(() => this.passOver(position)).catch(() => undefined),
      },
      [...new Set(reactions.flatMap(({ on }) => Object.keys(on)))],
    );
    await untilAborted(this.over);
    await subscription.stop();
    if (this.failed.signal.aborted) throw this.failed.signal.reason;
  }

  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      this.over.throwIfAborted();
      await work();
    } catch (fault) {
      this.failed.abort(fault);
      throw fault;
    }
  }

  private async react(batch: readonly StoredEvent[]): Promise<void> {
    const last = batch.at(-1);
    if (!last) return;
    this.needs.raiseWatermark(last.position);
    let running = new Map<string, Promise<void>>();
    for (const event of batch) {
      if (event.position <= this.checkpoint) continue;
      const partition = partitionOf(event, this.needs.reactions);
      if (partition === undefined || running.size >= maxPartitions) {
        await Promise.all(running.values());
        running = new Map();
      }
      if (partition === undefined) await this.effects.of(event);
      else running.set(partition, this.effects.of(event, running.get(partition)));
    }
    await Promise.all(running.values());
    await this.advance(last.position);
  }

  /** Advances past a stretch with nothing to react to. */
  private async passOver(position: bigint): Promise<void> {
    if (performance.now() - this.advancedAt > advanceEveryMs) await this.advance(position);
  }

  private advance(position: bigint): Promise<void> {
    return this.advancing.runExclusive(async () => {
      if (position <= this.checkpoint) return;
      await this.journal.advance(this.checkpoint, position);
      this.checkpoint = position;
      this.advancedAt = performance.now();
    });
  }
}

/** The partition whose order an event's effects keep; undefined: they wait for all before them, and all after them wait. */
function partitionOf(event: StoredEvent, reactions: readonly Reaction[]): string | undefined {
  const partitions = reactions
    .filter(({ on }) => Object.hasOwn(on, event.type))
    .map(({ partitionBy }) => partitionBy?.[event.type]?.(event));
  return partitions.every((partition) => partition === partitions[0]) ? partitions[0] : undefined;
}
