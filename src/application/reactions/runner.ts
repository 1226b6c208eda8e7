import { Mutex } from 'async-mutex';
import type { Client } from 'pg';
import { z } from 'zod';
import { sql, type Sql } from '../../../projections/kit/sql.js';
import { decode, ownersOf } from '../event-sourcing/codec.js';
import { BackendUnavailable, OutcomeUnknown } from '../faults/errors.js';
import type { EventStore, StoredEvent } from '../ports/event-store.js';
import type { Logger, Metrics } from '../ports/telemetry.js';
import type { PersonalDataKey, PersonalDataKeys } from '../ports/personal-data-keys.js';
import type { Reaction } from './reaction.js';
import { faultName, isOutage } from '../../infrastructure/postgres/faults.js';
import { lockNumbers } from '../../infrastructure/postgres/locks.js';
import { runTogether, type Outcome } from '../../infrastructure/postgres/pipeline.js';
import { over, runAsLeader, type LeaderLease } from '../../infrastructure/postgres/leader-lease.js';
import { pause } from '../kernel/concurrency/repeat-every.js';
import { answerWithinMs } from '../../infrastructure/projector/write-rows.js';

export interface ReactionsNeeds {
  /** The database owner's URL. */
  readonly url: string;
  readonly events: EventStore;
  readonly subjects: PersonalDataKeys;
  readonly reactions: readonly Reaction[];
  /** Told how far the log is known to reach, before the effects of what was read. */
  readonly saw?: (position: bigint) => void;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** First pause before a failed effect is tried again, in milliseconds; it doubles with each try. */
  readonly pauseMs?: number;
}

/** The checkpoint that all reactions of an installation share. */
const setName = 'reactions';
/** So many effects happen at the same time, at most. */
const lanesAtOnce = 32;
const maxTries = 10;
const longestPauseMs = 2_000;
/** Stretches without anything to react to move the checkpoint this often at most. */
const noteEveryMs = 1_000;

/**
 * Runs the effects of events, at least once and in the order of the log (where it matters: see Reaction.apart), in one
 * process per database. An effect that fails is tried again with growing pauses; after ten tries it is parked, listed and
 * counted, and the others go on. While a backend is away nothing is parked: the effect waits for it.
 */
export const startReactions = ({ pauseMs = 100, saw = () => undefined, ...needs }: ReactionsNeeds): LeaderLease =>
  runAsLeader(
    {
      url: needs.url,
      lock: lockNumbers.reactions,
      name: 'reactions',
      log: needs.log,
      // Effects are idempotent: a checkpoint lost in a crash only means that some happen again.
      settings: { durable: false, statementTimeoutMs: answerWithinMs },
    },
    (client, ended) => new ReactionsTerm({ ...needs, pauseMs, saw }, client, ended).run(),
  );

const none: ReadonlyMap<string, PersonalDataKey> = new Map();

const parkedRow = z.object({
  reaction: z.string(),
  eventId: z.string(),
  stream: z.string(),
  revision: z.coerce.number(),
});

class ReactionsTerm {
  private checkpoint = -1n;
  private notedAt = 0;
  private readonly turns = new Mutex();
  private readonly over: AbortSignal;
  private readonly failed = new AbortController();
  private readonly types: ReadonlySet<string>;

  constructor(
    private readonly needs: Required<ReactionsNeeds>,
    private readonly client: Client,
    ended: AbortSignal,
  ) {
    this.over = AbortSignal.any([ended, this.failed.signal]);
    this.types = new Set(needs.reactions.flatMap(({ on }) => Object.keys(on)));
  }

  async run(): Promise<void> {
    await this.loadCheckpoint();
    for (const { reset: forget } of this.needs.reactions) forget?.();
    await this.retryParked();
    const subscription = this.needs.events.subscribe(
      this.checkpoint < 0n ? undefined : this.checkpoint,
      {
        events: (batch) => this.guarded(() => this.react(batch)),
        // Nobody awaits this: `guarded` has ended the term with the fault, and `run` throws it.
        caughtUp: (position) => void this.guarded(() => this.passOver(position)).catch(() => undefined),
      },
      [...this.types],
    );
    await over(this.over);
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
    if (last) this.needs.saw(last.position);
    let apart = new Map<string, Promise<void>>();
    for (const event of batch) {
      if (event.position <= this.checkpoint) continue;
      const lane = this.laneOf(event);
      if (lane === undefined || apart.size >= lanesAtOnce) {
        await Promise.all(apart.values());
        apart = new Map();
      }
      if (lane === undefined) await this.effectsOf(event);
      else apart.set(lane, this.effectsOf(event, apart.get(lane)));
    }
    await Promise.all(apart.values());
    if (last) await this.note(last.position);
  }

  private async effectsOf(event: StoredEvent, after?: Promise<void>): Promise<void> {
    await after;
    for (const reaction of this.needs.reactions) await this.surely(reaction, event);
  }

  /** Which neighbours an event's effects must wait for: those of the same lane; undefined: all of them. */
  private laneOf(event: StoredEvent): string | undefined {
    const lanes = this.needs.reactions
      .filter(({ on }) => Object.hasOwn(on, event.type))
      .map(({ partitionBy: apart }) => apart?.[event.type]?.(event));
    return lanes.every((lane) => lane === lanes[0]) ? lanes[0] : undefined;
  }

  /** There was nothing to react to before this position. */
  private async passOver(position: bigint): Promise<void> {
    if (performance.now() - this.notedAt > noteEveryMs) await this.note(position);
  }

  /** Has the effect, or parks it. Throws only when the term is over. */
  private async surely(reaction: Reaction, event: StoredEvent): Promise<void> {
    if (!Object.hasOwn(reaction.on, event.type)) return;
    const { log, metrics, pauseMs } = this.needs;
    for (let tries = 1, wait = pauseMs; ; wait = Math.min(wait * 2, longestPauseMs)) {
      this.over.throwIfAborted();
      try {
        return await this.once(reaction, event);
      } catch (fault) {
        const ofEvent = !isBackendAway(fault);
        if (ofEvent && tries >= maxTries) return this.park(reaction, event, faultName(fault));
        if (ofEvent) tries += 1;
        metrics.count('palimpsest_reaction_failures_total', { reaction: reaction.name });
        log.warn({ reaction: reaction.name, eventId: event.id, tries, fault: faultName(fault) }, 'an effect failed');
        await pause(wait, this.over);
      }
    }
  }

  private async once(reaction: Reaction, event: StoredEvent): Promise<void> {
    const keys = reaction.sealed ? none : await this.needs.subjects.openingKeys(ownersOf([event]));
    await reaction.on[event.type]?.(decode(event, keys));
  }

  private async park({ name }: Reaction, event: StoredEvent, fault: string): Promise<void> {
    const { id, stream, revision, position, type } = event;
    await this.write(sql`
      insert into palimpsest.parked_reactions
        (set_name, reaction, event_id, stream, revision, position, event_type, fault)
      values (${setName}, ${name}, ${id}, ${stream}, ${revision}, ${position}, ${type}, ${fault})
      on conflict do nothing`);
    this.needs.metrics.count('palimpsest_reaction_parked_total', { reaction: name });
    this.needs.log.error({ reaction: name, eventId: id, stream, revision, fault }, 'an effect was parked');
  }

  /** What was parked in an earlier term gets one more try, in order; what it needed may be there now. */
  private async retryParked(): Promise<void> {
    const [outcome] = await this.write(sql`
      select reaction, event_id as "eventId", stream, revision from palimpsest.parked_reactions
      where set_name = ${setName} order by position`);
    for (const { reaction: name, eventId, stream, revision } of z.array(parkedRow).parse(outcome?.rows)) {
      const reaction = this.needs.reactions.find((one) => one.name === name);
      const [event] = await this.needs.events.readStream(stream, revision, 1);
      if (!reaction || event?.id !== eventId) continue;
      try {
        await this.once(reaction, event);
      } catch {
        continue;
      }
      await this.write(sql`
        delete from palimpsest.parked_reactions
        where set_name = ${setName} and reaction = ${name} and event_id = ${eventId}`);
    }
  }

  private async loadCheckpoint(): Promise<void> {
    const [, outcome] = await this.write(
      sql`insert into palimpsest.reaction_checkpoints (name, position) values (${setName}, -1) on conflict do nothing`,
      sql`select position from palimpsest.reaction_checkpoints where name = ${setName}`,
    );
    this.checkpoint = z.coerce.bigint().parse(outcome?.rows[0]?.['position']);
  }

  private note(position: bigint): Promise<void> {
    return this.turns.runExclusive(async () => {
      if (position <= this.checkpoint) return;
      const statement = sql`
        update palimpsest.reaction_checkpoints set position = ${position}
        where name = ${setName} and position = ${this.checkpoint}`;
      const [outcome] = await runTogether(this.client, [statement], answerWithinMs);
      if (outcome?.count !== 1) throw new AnotherIsActive();
      this.checkpoint = position;
      this.notedAt = performance.now();
    });
  }

  private write(...statements: readonly Sql[]): Promise<readonly Outcome[]> {
    return this.turns.runExclusive(() => runTogether(this.client, statements, answerWithinMs));
  }
}

class AnotherIsActive extends Error {}

const isBackendAway = (fault: unknown): boolean =>
  fault instanceof BackendUnavailable || fault instanceof OutcomeUnknown || isOutage(fault);
