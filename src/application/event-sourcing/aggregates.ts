import type { Aggregate, DomainEvent } from '../../domain/kernel/aggregate.js';
import type { Decision } from '../../domain/kernel/decision.js';
import { isRefusal, refuse, type Refusal, type RefusalCode } from '../../domain/kernel/refusal.js';
import { WrongRevision } from '../faults/errors.js';
import type { LoadedAggregate } from './loaded-aggregate.js';
import { appendExactly } from './append-exactly.js';
import { seal, type EventSourcing } from './append.js';
import type { Command } from './command.js';
import { decodedFrom, recordedOutcome } from './recorded-outcome.js';

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

export type Decide<State, Event extends DomainEvent, Code extends RefusalCode> = (
  state: State,
  at: string,
) => Decision<Event, Code> | Promise<Decision<Event, Code>>;

/** The aggregates of one owner, as one command meets them. */
export interface Aggregates {
  /**
   * Loads, folds, decides and appends at the exact revision; after a conflict it folds and decides again.
   * Answers what was stored, or the decision's refusal. Another owner's stream is `not_found`; an idempotency key that was
   * used for something else is `conflict`.
   * Fails when: the store cannot answer → BackendUnavailable, OutcomeUnknown; too many writers → WrongRevision.
   */
  execute<State, Event extends DomainEvent, Code extends RefusalCode = never>(
    aggregate: Aggregate<State, Event>,
    id: string,
    decide: Decide<State, Event, Code>,
  ): Promise<Executed<State, Event> | Refusal<Code | 'not_found' | 'conflict'>>;
  /**
   * The state now or, with `asOf`, as it was at that position of the log or later. Another owner's stream is the initial
   * state.
   */
  load<State, Event extends DomainEvent>(aggregate: Aggregate<State, Event>, id: string, asOf?: bigint): Promise<State>;
}

const maxAttempts = 12;

export class OwnerAggregates implements Aggregates {
  constructor(
    private readonly needs: EventSourcing,
    private readonly ownerId: string,
    private readonly command: Command,
  ) {}

  async load<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
    asOf?: bigint,
  ): Promise<State> {
    const loaded = await this.needs.store.load(aggregate, id, asOf);
    return loaded.ownerId === this.ownerId ? loaded.state : aggregate.initial;
  }

  execute<State, Event extends DomainEvent, Code extends RefusalCode = never>(
    aggregate: Aggregate<State, Event>,
    id: string,
    decide: Decide<State, Event, Code>,
  ): Promise<Executed<State, Event> | Refusal<Code | 'not_found' | 'conflict'>> {
    const stream = `${aggregate.category}-${id}`;
    return this.needs.commandQueue.runExclusive(stream, () => this.decideAndAppend(aggregate, id, stream, decide));
  }

  private async decideAndAppend<State, Event extends DomainEvent, Code extends RefusalCode>(
    aggregate: Aggregate<State, Event>,
    id: string,
    stream: string,
    decide: Decide<State, Event, Code>,
  ): Promise<Executed<State, Event> | Refusal<Code | 'not_found' | 'conflict'>> {
    const { store, clock, metrics } = this.needs;
    let loaded = store.cached(aggregate, id) ?? (await store.load(aggregate, id));
    for (let attempt = 1; ; attempt += 1) {
      if (loaded.ownerId !== undefined && loaded.ownerId !== this.ownerId) return refuse('not_found');
      const recorded = await recordedOutcome(store, stream, loaded, this.command);
      if (recorded) return isRefusal(recorded) ? recorded : this.replayed(loaded, recorded);
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
      try {
        return await this.append(aggregate, id, stream, loaded, at, decision);
      } catch (error) {
        if (!(error instanceof WrongRevision) || attempt >= maxAttempts) throw error;
        metrics.count('palimpsest_append_conflicts_total', { category: aggregate.category });
        loaded = await store.load(aggregate, id);
      }
    }
  }

  private async append<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
    stream: string,
    loaded: LoadedAggregate<State>,
    at: string,
    decision: readonly Event[],
  ): Promise<Executed<State, Event>> {
    const { needs, ownerId, command } = this;
    const named = decision.map((event, index) => ({ ...event, id: command.eventId(stream, index) }));
    const sealed = await seal(needs, ownerId, command, at, named);
    const position = await appendExactly(needs.eventStore, stream, loaded.revision, sealed);
    const stored = named.map((event, index) => ({ ...event, at, revision: loaded.revision + 1 + index }));
    const decoded = stored.map((event) => decodedFrom(event, stream, position, ownerId, command));
    const { state } = needs.store.applied(aggregate, id, loaded, decoded);
    command.noteOutcome(position, false);
    return { state, events: stored, position, replayed: false };
  }

  private replayed<State, Event extends DomainEvent>(
    { state }: LoadedAggregate<State>,
    recorded: readonly { readonly position: bigint }[],
  ): Executed<State, Event> {
    const position = recorded.at(-1)?.position;
    this.command.noteOutcome(position, true);
    // The stream was folded by this aggregate, so these are its events.
    const events = recorded as unknown as Executed<State, Event>['events'];
    return { state, events, position, replayed: true };
  }
}
