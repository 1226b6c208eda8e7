import type { AgentEvent, Fence } from '../../domain/agent/events.js';
import type { Caller } from '../access/caller.js';
import type { Aggregates } from '../event-sourcing/aggregates.js';
import type { Command } from '../event-sourcing/command.js';
import type { FirstEvents } from '../event-sourcing/first-event.js';
import type { Secret } from '../kernel/secret.js';
import type { VersionRef } from '../ports/credential-vault.js';
import type { HarnessRegistry } from '../ports/harnesses.js';

/** An enrollment as it was asked for. */
export interface Enrollment {
  readonly harness: string;
  readonly name: string;
  readonly persona: string | null;
  readonly model: string;
  readonly provider: string;
  readonly credential:
    { readonly mode: 'reference' } | { readonly mode: 'intake'; readonly type: 'api_key'; readonly value: Secret };
  readonly replayMode: Fence['replayMode'];
}

export type Enrolled = Extract<AgentEvent, { type: 'agent.enrolled' }>['data'] & { readonly enrolledAt: string };

/** The credentials of the owner that enrolls. */
export interface EnrollmentCredentials {
  stage(version: Omit<VersionRef, 'ownerId'>, value: Secret, condition?: 'only if first'): Promise<boolean>;
  discard(version: Omit<VersionRef, 'ownerId'>): Promise<void>;
  /** Has the owner a usable credential for the provider? A committed version counts before it is made active. */
  has(provider: string): Promise<boolean>;
}

/** What an enrollment works with. */
export interface EnrollmentContext {
  readonly caller: Caller;
  readonly command: Command;
  readonly credentials: EnrollmentCredentials;
  readonly harnesses: HarnessRegistry;
  /** The stream of an enrollment is a fence between tenants. */
  readonly firstEvents: FirstEvents;
  readonly aggregatesOf: (ownerId: string) => Aggregates;
}
