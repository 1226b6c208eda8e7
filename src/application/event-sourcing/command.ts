import { randomUUID } from 'node:crypto';
import type { Author } from '../../domain/kernel/author.js';
import type { Actor } from '../../domain/kernel/envelope.js';
import { derivedId, derivedUuid, newId, type IdKind } from '../kernel/ids.js';
import type { Clock } from '../ports/clock.js';

/** An idempotency key, and the digest (hex SHA-256) of what the request under it asks for. */
export interface Idempotency {
  readonly key: string;
  readonly operation: string;
  readonly digest: string;
}

interface CommandFields {
  readonly actor: Actor;
  readonly author: Author;
  readonly correlationId: string;
  readonly causationId?: string | undefined;
  readonly idempotency?: Idempotency | undefined;
  /** What the command's id derives from; undefined: it is random. */
  readonly names?: readonly string[] | undefined;
  readonly clock: Clock;
}

/**
 * Who acts, under which ids, for which idempotency key, and what came of it.
 * Invariant: the same names make the same ids again, so a retry of a command stores the same events.
 */
export class Command {
  readonly id: string;
  readonly actor: Actor;
  /** Who is named as the writer of texts: the agent that the key acts as, or else the key. */
  readonly author: Author;
  readonly correlationId: string;
  readonly causationId: string | undefined;
  readonly idempotency: Idempotency | undefined;
  /** Position of the last event stored, and whether an earlier run had stored the outcome. */
  position: bigint | undefined = undefined;
  replayed: boolean | undefined = undefined;
  private readonly names: readonly string[] | undefined;
  private readonly clock: Clock;

  constructor({ actor, author, correlationId, causationId, idempotency, names, clock }: CommandFields, id?: string) {
    this.id = id ?? (names ? derivedUuid('command', ...names) : randomUUID());
    this.actor = actor;
    this.author = author;
    this.correlationId = correlationId;
    this.causationId = causationId;
    this.idempotency = idempotency;
    this.names = names;
    this.clock = clock;
  }

  now(): Date {
    return this.clock.now();
  }

  /** An id for what this command makes; the same idempotency key makes the same id again. */
  newId(kind: IdKind, step = ''): string {
    return this.names ? derivedId(kind, ...this.names, step) : newId(kind, this.now());
  }

  /** A uuid that belongs to this command and step. */
  uuid(step: string): string {
    return derivedUuid(this.id, step);
  }

  /** Id of the `index`-th event that this command stores on a stream, known before it is stored. */
  eventId(stream: string, index = 0): string {
    return derivedUuid('event', this.id, stream, String(index));
  }

  /** Notes that the outcome was stored by an earlier run. */
  markReplayed(): void {
    this.replayed ??= true;
  }

  /** Notes what an append came to. */
  noteOutcome(position: bigint | undefined, replayed: boolean): void {
    this.replayed ??= replayed;
    if (position !== undefined && position > (this.position ?? -1n)) this.position = position;
  }

  /** The system continues what a command left undone: under this correlation id, apart from the caller's outcome. */
  asSystem(correlationId: string): Command {
    return systemCommand({ id: this.id, correlationId, clock: this.clock });
  }
}

const systemActor: Actor = { type: 'system', id: 'palimpsest' };

/** A command of the system itself: reactions, workers, maintenance. */
export const systemCommand = ({
  id,
  correlationId = randomUUID(),
  causationId,
  clock,
}: {
  readonly id: string;
  readonly correlationId?: string;
  readonly causationId?: string;
  readonly clock: Clock;
}): Command => {
  // No event names this author: what the system records carries the author of the entry itself.
  const author: Author = { type: 'key', id: 'palimpsest' };
  return new Command({ actor: systemActor, author, correlationId, causationId, clock }, id);
};
