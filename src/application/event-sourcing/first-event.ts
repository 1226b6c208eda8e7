import { WrongRevision } from '../faults/errors.js';
import { appendExactly } from './append-exactly.js';
import { seal, type EventSourcing, type NamedEvent } from './append.js';
import type { DecodedEvent } from './codec.js';
import type { Command } from './command.js';

/** Streams whose first event decides between tenants: the first writer wins, whoever owns the stream. */
export interface FirstEvents {
  /** The first event of a stream of any owner. */
  read(stream: string): Promise<DecodedEvent | undefined>;
  /**
   * Stores the first event of a stream and answers when that was (RFC 3339); undefined when another was first.
   * Fails when: the outcome cannot be known → OutcomeUnknown, BackendUnavailable.
   */
  appendFirst(stream: string, event: NamedEvent): Promise<string | undefined>;
  /**
   * Stores that a recorded outcome is answered again.
   * Fails when: it cannot be stored → it throws, and the outcome must not be answered.
   */
  recordReplay(stream: string, event: NamedEvent): Promise<bigint>;
  /** Runs work while no other command of this process on the stream runs. */
  runExclusive<Result>(stream: string, work: () => Promise<Result>): Promise<Result>;
}

/** First events that one command stores on behalf of an owner. */
export class OwnerFirstEvents implements FirstEvents {
  constructor(
    private readonly needs: EventSourcing,
    private readonly ownerId: string,
    private readonly command: Command,
  ) {}

  async read(stream: string): Promise<DecodedEvent | undefined> {
    return (await this.needs.store.events(stream, 0, 1))[0];
  }

  async appendFirst(stream: string, event: NamedEvent): Promise<string | undefined> {
    const at = this.needs.clock.now().toISOString();
    const sealed = await seal(this.needs, this.ownerId, this.command, at, [event]);
    try {
      this.command.noteOutcome(await appendExactly(this.needs.eventStore, stream, -1, sealed), false);
      return at;
    } catch (error) {
      if (error instanceof WrongRevision) return undefined;
      throw error;
    }
  }

  async recordReplay(stream: string, event: NamedEvent): Promise<bigint> {
    const at = this.needs.clock.now().toISOString();
    const sealed = await seal(this.needs, this.ownerId, this.command, at, [event]);
    const { position } = await this.needs.eventStore.append(stream, 'any', sealed);
    this.command.noteOutcome(position, true);
    return position;
  }

  runExclusive<Result>(stream: string, work: () => Promise<Result>): Promise<Result> {
    return this.needs.commandQueue.runExclusive(stream, work);
  }
}
