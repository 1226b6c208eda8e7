import { LRUCache } from 'lru-cache';
import { findAgent } from '../../../projections/agents.js';
import { isListedKey } from '../../../projections/keys.js';
import { findWorkspace } from '../../../projections/workspaces.js';
import { agent, isLive } from '../../domain/agent/agent.js';
import { key } from '../../domain/key/key.js';
import { user } from '../../domain/user/user.js';
import { hasMember, workspace } from '../../domain/workspace/workspace.js';
import type { AggregateStore } from '../event-sourcing/aggregate-store.js';
import { BackendUnavailable, OutcomeUnknown, Overloaded } from '../faults/errors.js';
import { DeadlineExceeded, within } from '../kernel/concurrency/deadline.js';
import type { ReadDbs } from '../ports/read-models.js';
import type { Caller } from './caller.js';

export interface Principal {
  readonly caller: Caller;
  readonly secretHash: string;
  /** A fast digest of the secret that was found to fit, so that it is not hashed with the pepper on every request. */
  fitting?: string;
  readonly expiresAt: number;
  /** When it was last found to be valid, milliseconds of the monotonic clock. */
  checkedAt: number;
}

export interface PrincipalsNeeds {
  readonly store: AggregateStore;
  readonly dbs: ReadDbs;
  /** Milliseconds of a clock that is never set back. */
  readonly elapsed: () => number;
}

/** A principal is asked for again after this long: revoking a key works on every process within 5 s. */
const trustedForMs = 3_000;
/** The event store is not waited for longer than this when the read models can answer. */
const patienceMs = 1_000;
const rememberedPrincipals = 10_000;

/**
 * Whom each key speaks for, by its own stream. Why: a read model would see a revocation later than it is stored.
 * While the event store does not answer, who was known before is valid as long as the read models say so
 * (docs/decisions/0064-a-backend-that-is-away.md).
 */
export class Principals {
  private readonly remembered = new LRUCache<string, Principal>({ max: rememberedPrincipals });
  private readonly loading = new Map<string, Promise<Principal | undefined>>();
  /** The event store was late or failed when it was asked last. */
  private isAway = false;

  constructor(private readonly needs: PrincipalsNeeds) {}

  /** Undefined: there is no such key, or it is not valid. Fails when: nobody can tell → BackendUnavailable, OutcomeUnknown. */
  async of(keyId: string): Promise<Principal | undefined> {
    const known = this.remembered.get(keyId);
    const now = this.needs.elapsed();
    if (known && now - known.checkedAt < trustedForMs) return known;
    const asked = this.ask(keyId);
    if (!known) return asked;
    try {
      return await within(this.isAway ? 0 : patienceMs, asked);
    } catch (fault) {
      if (!isOutage(fault)) throw fault;
      this.isAway = true;
    }
    // What the read models do not show may only be new to them: then the streams have the word.
    if (!(await this.isListed(known.caller))) return asked;
    known.checkedAt = now;
    return known;
  }

  private ask(keyId: string): Promise<Principal | undefined> {
    const pending = this.loading.get(keyId);
    if (pending) return pending;
    const asked = this.load(keyId, this.needs.elapsed()).finally(() => this.loading.delete(keyId));
    asked.catch(() => undefined); // It may be nobody's any more when it fails.
    this.loading.set(keyId, asked);
    return asked;
  }

  private async load(keyId: string, now: number): Promise<Principal | undefined> {
    const found = await this.fromStreams(keyId, now);
    this.isAway = false;
    if (found) this.remembered.set(keyId, found);
    else this.remembered.delete(keyId);
    return found;
  }

  private async fromStreams(keyId: string, now: number): Promise<Principal | undefined> {
    const { store } = this.needs;
    const found = (await store.load(key, keyId)).state;
    if (found.status !== 'active') return undefined;
    const [owner, space, acting] = await Promise.all([
      store.load(user, found.userId),
      store.load(workspace, found.workspaceId),
      found.agentId === null ? undefined : store.load(agent, found.agentId),
    ]);
    if (owner.state.status !== 'active' || !hasMember(space.state, found.userId)) return undefined;
    if (acting && !isLive(acting.state, found.userId)) return undefined;
    return {
      caller: {
        userId: found.userId,
        workspaceId: found.workspaceId,
        keyId,
        ...(found.agentId !== null && { agentId: found.agentId }),
        role: owner.state.role,
        scopes: new Set(found.scopes),
        ...(found.pad && { pad: found.pad }),
      },
      secretHash: found.secretHash,
      expiresAt: found.expiresAt === null ? Infinity : Date.parse(found.expiresAt),
      checkedAt: now,
    };
  }

  /** Answers whether the read models show the key, its agent and its owner's membership. */
  private async isListed({ userId, workspaceId, keyId, agentId }: Caller): Promise<boolean> {
    const db = this.needs.dbs.for(userId);
    const rows = await Promise.all([
      isListedKey(db, userId, keyId),
      findWorkspace(db, userId, workspaceId),
      agentId === undefined || findAgent(db, userId, agentId),
    ]);
    return rows.every(Boolean);
  }
}

const isOutage = (fault: unknown): boolean =>
  fault instanceof DeadlineExceeded ||
  fault instanceof OutcomeUnknown ||
  (fault instanceof BackendUnavailable && !(fault instanceof Overloaded));
