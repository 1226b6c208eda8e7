import type { Aggregate, DomainEvent } from '../../domain/kernel/aggregate.js';
import type { Decision } from '../../domain/kernel/decision.js';
import type { Actor } from '../../domain/kernel/envelope.js';
import { isRefusal, refuse, type Refusal, type RefusalCode } from '../../domain/kernel/refusal.js';
import { encode, needsKey, type DecodedEvent } from './codec.js';
import type { FactRecorder } from './fact-recorder.js';
import { derivedUuid } from '../kernel/ids.js';
import type { AggregateStore, LoadedAggregate } from './aggregate-store.js';
import { OutcomeUnknown, Overloaded, WrongRevision } from '../faults/errors.js';
import type { Clock } from '../ports/clock.js';
import type { EventStore } from '../ports/event-store.js';
import type { Metrics } from '../ports/telemetry.js';
import type { PersonalDataKeys } from '../ports/personal-data-keys.js';

/** On whose behalf and under which names a command stores events. */
export interface CommandContext {
  /** The tenant: streams of other owners are absent, and new ones become this owner's. */
  readonly ownerId: string;
  readonly actor: Actor;
  readonly correlationId: string;
  readonly causationId?: string;
  /** Names this command; event ids derive from it, so that a retry of the command stores the same events. */
  readonly commandId: string;
  readonly idempotency?: { readonly key: string; readonly operation: string; readonly digest: string };
  /** Told of every outcome: the position of what was stored, and whether an earlier run had stored it. */
  readonly onOutcome?: (position: bigint | undefined, replayed: boolean) => void;
}

export interface Executed<State, Event extends DomainEvent> {
  /** The state after the command. */
  readonly state: State;
  /** What the command stored, now or when it first ran; empty when there was nothing to do. */
  readonly events: readonly (Event & { readonly id: string; readonly at: string; readonly revision: number })[];
  /** Position of the last event stored, or undefined when nothing was. */
  readonly position: bigint | undefined;
  /** True when an earlier run of the same command had stored the events. */
  readonly replayed: boolean;
}

export interface Streams {
  /**
   * Reads (or remembers), folds, decides and appends at the exact revision; on a conflict it folds and decides again.
   * Answers what was stored, or the decision's refusal; a stream of another owner is `not_found`, an idempotency key
   * that was used for something else is `conflict`. Throws when the store cannot answer.
   */
  execute<State, Event extends DomainEvent, Code extends RefusalCode = never>(
    aggregate: Aggregate<State, Event>,
    id: string,
    decide: (state: State, at: string) => Decision<Event, Code> | Promise<Decision<Event, Code>>,
  ): Promise<Executed<State, Event> | Refusal<Code | 'not_found' | 'conflict'>>;
  /**
   * The state as it is now, or, with `asOf`, as it was at that position of the log or later; a stream of another owner is
   * the initial state.
   */
  load<State, Event extends DomainEvent>(aggregate: Aggregate<State, Event>, id: string, asOf?: bigint): Promise<State>;
  /** Id of the `index`-th event that this command stores on a stream: known before it is stored. */
  eventId(stream: string, index?: number): string;
  /** The same command on behalf of another owner: for administrators and for the system's own work. */
  as(ownerId: string): Streams;
  /** The system itself, going on with what a command has left undone: under this correlation id, not part of a caller's outcome. */
  asSystem(correlationId: string): Streams;
  /** Says that this command's outcome was there already. */
  again(): void;
  /** Stores facts that no decision guards and whose order with others does not matter (ledgers), under ids of their own. */
  record(stream: string, events: readonly (DomainEvent & { readonly id: string })[]): Promise<bigint>;
  /** The events of this owner's stream, oldest first. */
  history(stream: string): AsyncIterable<DecodedEvent>;
  /** The same from its end, newest first. */
  newestFirst<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
  ): AsyncIterable<DecodedEvent>;
  /** The event at a revision of this owner's stream. */
  eventAt(stream: string, revision: number): Promise<DecodedEvent | undefined>;
  /** The first event of a stream, whoever owns it: for streams whose name is a fence between tenants. */
  first(stream: string): Promise<DecodedEvent | undefined>;
  /**
   * Stores the first event of a stream, under an id that no other run of the command has, and answers when that was
   * (RFC 3339); undefined when another was first. Throws when that cannot be known.
   */
  begin(stream: string, event: DomainEvent & { readonly id: string }): Promise<string | undefined>;
  /** Stores that a recorded outcome is being answered again. Throws when it cannot, and then it must not be answered. */
  replays(stream: string, event: DomainEvent & { readonly id: string }): Promise<bigint>;
  /** Runs work while no other of this process's commands on the stream does. */
  inTurn<Result>(stream: string, work: () => Promise<Result>): Promise<Result>;
}

export interface StreamsNeeds {
  readonly log: EventStore;
  readonly store: AggregateStore;
  readonly subjects: PersonalDataKeys;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly queues: KeyedMutex;
  readonly gathered: FactRecorder;
}

const maxAttempts = 12;
/** Events read at once. */
const pageSize = 500;

/**
 * Commands of one process on one stream take turns, so that they do not conflict with each other. Who would wait for long,
 * as when each turn before has to find out anew that a backend is away, is told so (Overloaded); nothing was begun.
 */
export class KeyedMutex {
  private readonly tails = new Map<string, Promise<unknown>>();

  constructor(private readonly patienceMs = 8_000) {}

  async runExclusive<Result>(stream: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.tails.get(stream);
    const turn = (async () => {
      if (before && !(await isOver(before, this.patienceMs))) throw new Overloaded('eventstore');
      return work();
    })();
    // Who gave up does not let the next one pass those before.
    const tail = before ? Promise.allSettled([before, turn]) : Promise.allSettled([turn]);
    this.tails.set(stream, tail);
    try {
      return await turn;
    } finally {
      void tail.then(() => {
        if (this.tails.get(stream) === tail) this.tails.delete(stream);
      });
    }
  }
}

function isOver(turns: Promise<unknown>, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), withinMs);
    void turns.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

export function makeStreams(needs: StreamsNeeds, context: CommandContext): Streams {
  const { log, store, subjects, clock, metrics, queues, gathered } = needs;
  const eventId = (stream: string, index = 0) => derivedUuid('event', context.commandId, stream, String(index));

  const encoded = async (at: string, events: readonly (DomainEvent & { readonly id: string })[]) => {
    const key = needsKey(events) ? await subjects.sealingKey(context.ownerId) : undefined;
    const metadata = {
      $correlationId: context.correlationId,
      ...(context.causationId && { $causationId: context.causationId }),
      ownerId: context.ownerId,
      actor: context.actor,
      at,
      ...(context.idempotency && { idempotency: context.idempotency }),
    };
    return events.map((event) => encode(event.id, event, metadata, key));
  };

  const streams: Streams = {
    eventId,
    as: (ownerId) => makeStreams(needs, { ...context, ownerId }),

    asSystem: (correlationId) =>
      makeStreams(needs, {
        ...{ ownerId: context.ownerId, commandId: context.commandId, correlationId },
        actor: { type: 'system', id: 'palimpsest' },
      }),

    again: () => context.onOutcome?.(undefined, true),

    async load(aggregate, id, asOf) {
      const loaded = await store.load(aggregate, id, asOf);
      return loaded.ownerId === context.ownerId ? loaded.state : aggregate.initial;
    },

    async record(stream, events) {
      const position = await gathered.append(stream, await encoded(clock.now().toISOString(), events));
      context.onOutcome?.(position, false);
      return position;
    },

    async *history(stream) {
      for (let from = 0; ; from += pageSize) {
        const page = await store.events(stream, from, pageSize);
        yield* page.filter(({ metadata }) => metadata.ownerId === context.ownerId);
        if (page.length < pageSize) return;
      }
    },

    async *newestFirst(aggregate, id) {
      // Most who look want one of the last.
      let size = 32;
      for (let end = (await store.load(aggregate, id)).revision + 1; end > 0; end -= size, size = pageSize) {
        const from = Math.max(0, end - size);
        const page = await store.events(`${aggregate.category}-${id}`, from, end - from);
        yield* page.filter(({ metadata }) => metadata.ownerId === context.ownerId).reverse();
      }
    },

    async eventAt(stream, revision) {
      const [event] = await store.events(stream, revision, 1);
      return event?.metadata.ownerId === context.ownerId ? event : undefined;
    },

    first: async (stream) => (await store.events(stream, 0, 1))[0],

    async begin(stream, event) {
      const at = clock.now().toISOString();
      try {
        const position = await appendSurely(log, stream, -1, await encoded(at, [event]));
        context.onOutcome?.(position, false);
        return at;
      } catch (error) {
        if (error instanceof WrongRevision) return undefined;
        throw error;
      }
    },

    async replays(stream, event) {
      const { position } = await log.append(stream, 'any', await encoded(clock.now().toISOString(), [event]));
      context.onOutcome?.(position, true);
      return position;
    },

    inTurn: (stream, work) => queues.runExclusive(stream, work),

    execute: (aggregate, id, decide) =>
      queues.runExclusive(`${aggregate.category}-${id}`, async () => {
        const stream = `${aggregate.category}-${id}`;
        let loaded = store.cached(aggregate, id) ?? (await store.load(aggregate, id));
        for (let attempt = 1; ; attempt += 1) {
          if (loaded.ownerId !== undefined && loaded.ownerId !== context.ownerId) return refuse('not_found');
          const earlier = await earlierOutcome(store, aggregate, stream, loaded, context);
          if (earlier) {
            if (!isRefusal(earlier)) context.onOutcome?.(earlier.position, true);
            return earlier;
          }
          const at = clock.now().toISOString();
          const decision = await decide(loaded.state, at);
          if (isRefusal(decision) || decision.length === 0) {
            // What was remembered may be behind: a "no" counts only against the stream as it is now.
            const now = await store.load(aggregate, id);
            if (now.revision !== loaded.revision && attempt < maxAttempts) {
              loaded = now;
              continue;
            }
            if (isRefusal(decision)) return decision;
            return { state: loaded.state, events: [], position: undefined, replayed: false };
          }
          const named = decision.map((event, index) => ({ ...event, id: eventId(stream, index) }));
          try {
            const position = await appendSurely(log, stream, loaded.revision, await encoded(at, named));
            const stored = named.map((event, index) => ({ ...event, at, revision: loaded.revision + 1 + index }));
            const after = store.applied(
              aggregate,
              id,
              loaded,
              stored.map((event) => decodedFrom(event, stream, position, context)),
            );
            context.onOutcome?.(position, false);
            return { state: after.state, events: stored, position, replayed: false };
          } catch (error) {
            if (!(error instanceof WrongRevision) || attempt >= maxAttempts) throw error;
            metrics.count('palimpsest_append_conflicts_total', { category: aggregate.category });
            loaded = await store.load(aggregate, id);
          }
        }
      }),
  };
  return streams;
}

/**
 * Appends at an exact revision. When the answer is lost the same events are sent again: the store recognises their ids
 * and answers what happened (03-flows, rule 3).
 */
async function appendSurely(
  log: EventStore,
  stream: string,
  revision: number,
  events: Parameters<EventStore['append']>[2],
): Promise<bigint> {
  const expected = revision < 0 ? 'none' : revision;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await log.append(stream, expected, events)).position;
    } catch (error) {
      if (!(error instanceof OutcomeUnknown) || attempt >= 3) throw error;
    }
  }
}

/** The recorded outcome of this idempotency key on the stream, if it has one. */
async function earlierOutcome<State, Event extends DomainEvent>(
  store: AggregateStore,
  aggregate: Aggregate<State, Event>,
  stream: string,
  loaded: LoadedAggregate<State>,
  { idempotency, actor }: CommandContext,
): Promise<Executed<State, Event> | Refusal<'conflict'> | undefined> {
  if (!idempotency) return undefined;
  const recorded = loaded.keys.find(({ key }) => key === idempotency.key);
  if (!recorded) return undefined;
  const same =
    recorded.operation === idempotency.operation &&
    recorded.digest === idempotency.digest &&
    recorded.actorId === actor.id;
  if (!same) return idempotencyCollision();
  const events = await store.events(stream, recorded.from, recorded.count);
  // The stream was folded by this aggregate, so these are its events.
  return {
    state: loaded.state,
    events: events as unknown as Executed<State, Event>['events'],
    position: events.at(-1)?.position,
    replayed: true,
  };
}

/** One constant answer: it identifies nothing that is recorded (E7). */
export const idempotencyCollision = () =>
  refuse('conflict', 'This idempotency key was used before with a different request.', {
    reason: 'idempotency_key_reused',
  });

const decodedFrom = (
  event: DomainEvent & { readonly id: string; readonly at: string; readonly revision: number },
  stream: string,
  position: bigint,
  { ownerId, actor, correlationId, idempotency }: CommandContext,
): DecodedEvent => ({
  ...event,
  stream,
  position,
  metadata: {
    $correlationId: correlationId,
    ownerId,
    actor,
    at: event.at,
    schemaVersion: 1,
    ...(idempotency && { idempotency }),
  },
});
