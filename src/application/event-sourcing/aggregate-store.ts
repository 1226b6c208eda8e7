import type { Aggregate, DomainEvent } from '../../domain/kernel/aggregate.js';
import type { EventStore } from '../ports/event-store.js';
import type { PersonalDataKeys } from '../ports/personal-data-keys.js';
import type { Snapshot, Snapshots } from '../ports/snapshots.js';
import type { DecodedEvent } from './codec.js';
import { DecodedStreams } from './decoded-streams.js';
import { advance, emptyStream, type LoadedAggregate } from './loaded-aggregate.js';
import { LRUCache } from 'lru-cache';

const pageSize = 500;

const snapshotEvery = 200;

const cachedStreams = 20_000;

interface Cached {
  readonly loaded: LoadedAggregate<unknown>;
  /** Revision of the last snapshot. */
  readonly snapshotAt: number;
  /** The stream holds nothing more up to this position of the log. */
  readonly asOf: bigint;
}

/**
 * Loads aggregates. Folded states are cached by stream; only what was stored since is read again, and a long stream
 * starts from a snapshot, so that cost does not grow with history.
 */
export class AggregateStore extends DecodedStreams {
  private readonly cache = new LRUCache<string, Cached>({ max: cachedStreams });
  /** The event store is known to reach this position. */
  private watermark = -1n;
  /** Reads under way, by stream, with the watermark at which each began. */
  private readonly inFlightLoads = new Map<
    string,
    { readonly seen: bigint; readonly loaded: Promise<LoadedAggregate<unknown>> }
  >();

  constructor(
    eventStore: EventStore,
    personalDataKeys: PersonalDataKeys,
    private readonly snapshots: Snapshots,
  ) {
    super(eventStore, personalDataKeys);
  }

  /** The stream as this process last saw it, without asking the store; undefined when it never did. */
  cached<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
  ): LoadedAggregate<State> | undefined {
    const stream = `${aggregate.category}-${id}`;
    const entry = this.cache.get(stream);
    // The category is part of the stream's name, so what is cached under it was folded by this aggregate.
    return entry?.loaded as LoadedAggregate<State> | undefined;
  }

  /** Raises the watermark: the event store is known to reach `position`, so later reads are at least that fresh. */
  raiseWatermark(position: bigint): void {
    if (position > this.watermark) this.watermark = position;
  }

  /** Loads the stream as it is now or, with `asOf`, as it was at that position of the log or later, which may spare a read. */
  async load<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
    asOf?: bigint,
  ): Promise<LoadedAggregate<State>> {
    const stream = `${aggregate.category}-${id}`;
    const known = this.cached(aggregate, id);
    if (asOf === undefined) return this.refresh(aggregate, stream, known);
    if (known && (this.cache.peek(stream)?.asOf ?? -1n) >= asOf) return known;
    const look = this.inFlightLoads.get(stream);
    // As above: the category is part of the stream's name.
    if (look && look.seen >= asOf) return (await look.loaded) as LoadedAggregate<State>;
    const loaded = this.refresh(aggregate, stream, known);
    const mine = { seen: this.watermark, loaded };
    this.inFlightLoads.set(stream, mine);
    try {
      return await loaded;
    } finally {
      if (this.inFlightLoads.get(stream) === mine) this.inFlightLoads.delete(stream);
    }
  }

  /** Reads what was stored since. */
  private async refresh<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: string,
    known: LoadedAggregate<State> | undefined,
  ): Promise<LoadedAggregate<State>> {
    const { watermark: seen } = this;
    let loaded = known ?? (await this.fromSnapshot(aggregate, stream));
    for (;;) {
      const page = await this.events(stream, loaded.revision + 1, pageSize);
      if (page.length > 0) loaded = advance(aggregate, loaded, page);
      if (page.length < pageSize) break;
    }
    this.remember(aggregate, stream, loaded, seen);
    return loaded;
  }

  /** The state after events that are now known to be stored. */
  applied<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
    before: LoadedAggregate<State>,
    events: readonly DecodedEvent[],
  ): LoadedAggregate<State> {
    const loaded = advance(aggregate, before, events);
    this.remember(aggregate, `${aggregate.category}-${id}`, loaded);
    return loaded;
  }

  private async fromSnapshot<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: string,
  ): Promise<LoadedAggregate<State>> {
    const snapshot = await this.snapshots.load(stream);
    if (snapshot?.version !== (aggregate.snapshotVersion ?? 1)) return emptyStream(aggregate);
    return { ...snapshot, state: snapshot.state as State, position: 0n }; // same stream, same version: its state
  }

  private remember<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: string,
    loaded: LoadedAggregate<State>,
    asOf = -1n,
  ): void {
    const known = this.cache.peek(stream);
    let snapshotAt = known?.snapshotAt ?? loaded.revision - (loaded.revision % snapshotEvery);
    if (loaded.ownerId !== undefined && loaded.revision - snapshotAt >= snapshotEvery) {
      snapshotAt = loaded.revision;
      this.saveSnapshot(stream, { ...loaded, ownerId: loaded.ownerId, version: aggregate.snapshotVersion ?? 1 });
    }
    if (known && known.loaded.revision > loaded.revision) return;
    const since = known && known.asOf > asOf ? known.asOf : asOf;
    this.cache.set(stream, { loaded, snapshotAt, asOf: since });
  }

  private saveSnapshot(stream: string, { revision, version, state, ownerId, keys }: Snapshot): void {
    // A snapshot only saves time: when it cannot be stored the stream is read in full, and nothing is wrong.
    this.snapshots.save(stream, { revision, version, state, ownerId, keys }).catch(() => undefined);
  }
}
