import type { Author } from '../../domain/kernel/author.js';
import type { Refusal } from '../../domain/kernel/refusal.js';
import type { ScratchpadBinding } from '../gateway/steps/bind-scratchpad.js';
import type { Caller } from '../access/caller.js';
import type { HarnessRegistry } from '../ports/harnesses.js';
import type { IdKind } from '../kernel/ids.js';
import type { LiveFeed } from '../event-sourcing/live-feed/feed.js';
import type { Logger } from '../ports/telemetry.js';
import type { PurgeQueue } from '../ports/work-queues.js';
import type { ReadDb } from '../ports/read-models.js';
import type { PersonalDataKeys } from '../ports/personal-data-keys.js';
import type { ScratchpadStore } from '../ports/scratchpad-store.js';
import type { Models } from '../ports/models.js';
import type { Streams } from '../event-sourcing/aggregates.js';
import type { CredentialVault } from '../ports/credential-vault.js';

/** What an operation works with. Everything in it is already bound to the caller's tenant. */
export interface OperationContext {
  readonly caller: Caller;
  readonly correlationId: string;
  /** Author of what is written: the agent that the key acts as, or else the key. */
  readonly author: Author;
  readonly now: () => Date;
  readonly ids: {
    /** An id for what this command makes; the same idempotency key makes the same id again. */
    make(kind: IdKind, step?: string): string;
    /** A uuid that belongs to this command and step. */
    uuid(step: string): string;
  };
  readonly streams: Streams;
  /** The read models as the caller sees them. */
  readonly db: ReadDb;
  /** The read models of every tenant; only for callers that are auditors or administrators. */
  readonly everyTenant: ReadDb | undefined;
  readonly cursors: Cursors;
  /** Waits, bounded, until the read models show a position; false when they did not in time. */
  shown(position: bigint): Promise<boolean>;
  readonly working: ScratchpadStore;
  readonly live: LiveFeed;
  readonly purges: PurgeQueue;
  readonly keys: KeyMaker;
  readonly subjects: PersonalDataKeys;
  readonly projections: ProjectionControl;
  readonly vault: CredentialVault;
  readonly harnesses: HarnessRegistry;
  readonly models: Models;
  /** The request's idempotency key, and the digest of what it asks for. */
  readonly idempotency: { readonly key: string; readonly operation: string; readonly digest: string } | undefined;
  /** The scratchpad that the request is bound to, and the role it acts in. */
  readonly pad: ScratchpadBinding | undefined;
  /** The content revision that `If-Match` names. */
  readonly ifMatch: number | undefined;
  readonly log: Logger;
}

/** Opaque page marks: signed, and good only for the same caller, list and filter. */
export interface Cursors {
  /** The mark of a place in a list. */
  seal(list: string, filter: unknown, place: string): string;
  /** The place that a mark names, or undefined without a mark; a mark of another list, filter or caller is refused. */
  open(list: string, filter: unknown, cursor: string | undefined): string | undefined | Refusal<'validation_failed'>;
}

export interface KeyMaker {
  /** A new secret and what may be stored of it. The plain key is shown once. */
  make(keyId: string): { readonly key: string; readonly secretHash: string; readonly display: string };
}

/** What is further behind is not counted on. */
export const mostLag = 1_000;

export interface ProjectionStatus {
  readonly name: string;
  readonly position: string;
  /** Events of the log that it does not show yet, `mostLag` at most. */
  readonly lag: number;
  readonly parked: number;
  readonly rebuilding: boolean;
}

export interface ProjectionControl {
  list(): Promise<readonly ProjectionStatus[]>;
  /** Rebuilds a read model beside the live one and swaps them; undefined when there is none of that name. */
  rebuild(
    name: string,
  ): Promise<{ readonly name: string; readonly events: number; readonly position: string } | undefined>;
}
