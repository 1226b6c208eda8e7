import type { Refusal } from '../../domain/kernel/refusal.js';
import type { KeyMaker } from '../access/api-keys.js';
import type { Caller } from '../access/caller.js';
import type { Command } from '../event-sourcing/command.js';
import type { HarnessRegistry } from '../ports/harnesses.js';
import type { Models } from '../ports/models.js';
import type { Pad } from '../scratchpad/pad.js';
import type { SystemPowers } from '../tenancy/system-powers.js';
import type { Tenant } from '../tenancy/tenant.js';

/** What an operation works with. Invariant: everything in it is bound to the caller's tenant. */
export interface OperationContext {
  readonly caller: Caller;
  /** Ids, author, clock and idempotency of this command. */
  readonly command: Command;
  readonly tenant: Tenant;
  /** The scratchpad that a tool acts on; the model never names it. */
  readonly boundPad: Pad | Refusal<'precondition_failed'>;
  /** The content revision that `If-Match` names. */
  readonly ifMatch: number | undefined;
  readonly cursors: Cursors;
  /** Waits, at most 10 s, until the read models show a position; false when they did not in time. */
  readonly awaitPosition: (position: bigint) => Promise<boolean>;
}

/** Opaque page marks: signed, and good only for the same caller, list and filter. */
export interface Cursors {
  /** The mark of a place in a list. */
  seal(list: string, filter: unknown, place: string): string;
  /** The place that a mark names, or undefined without a mark; a mark of another list, filter or caller is refused. */
  open(list: string, filter: unknown, cursor: string | undefined): string | undefined | Refusal<'validation_failed'>;
}

/** Services of this installation that belong to no tenant. */
export interface Services {
  readonly apiKeys: KeyMaker;
  readonly models: Models;
  readonly harnesses: HarnessRegistry;
}

/** What an operation may declare with `uses`: powers beyond the tenant, and services. */
export type Powers = SystemPowers & Services;
