import { OwnerAggregates, type Aggregates } from './aggregates.js';
import { seal, type EventSourcing, type NamedEvent } from './append.js';
import type { Command } from './command.js';
import { OwnerEventReader, type EventReader } from './event-reader.js';
import { OwnerFirstEvents, type FirstEvents } from './first-event.js';

/** The streams of one owner, as one command reads and writes them. */
export class OwnerStreams {
  readonly aggregates: Aggregates;
  readonly events: EventReader;

  constructor(
    private readonly needs: EventSourcing,
    readonly ownerId: string,
    readonly command: Command,
  ) {
    this.aggregates = new OwnerAggregates(needs, ownerId, command);
    this.events = new OwnerEventReader(needs.store, ownerId);
  }

  /** First events stored on behalf of this owner. */
  get firstEvents(): FirstEvents {
    return new OwnerFirstEvents(this.needs, this.ownerId, this.command);
  }

  /** Stores facts that no decision guards and whose order with others does not matter, under ids of their own. */
  async recordFacts(stream: string, events: readonly NamedEvent[]): Promise<bigint> {
    const { needs, ownerId, command } = this;
    const sealed = await seal(needs, ownerId, command, needs.clock.now().toISOString(), events);
    const position = await needs.facts.append(stream, sealed);
    command.noteOutcome(position, false);
    return position;
  }

  /** Runs work while no other of this process under the same key does. */
  runExclusive<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    return this.needs.commandQueue.runExclusive(key, work);
  }

  /** The same owner's streams for the system, which continues what the command left undone. */
  asSystem(correlationId: string): OwnerStreams {
    return new OwnerStreams(this.needs, this.ownerId, this.command.asSystem(correlationId));
  }
}
