import { LRUCache } from 'lru-cache';
import { agent, isLive } from '../../domain/agent/agent.js';
import { key } from '../../domain/key/key.js';
import { user } from '../../domain/user/user.js';
import { hasMember, workspace } from '../../domain/workspace/workspace.js';
import type { Caller } from './caller.js';
import { sha256 } from '../kernel/canonical-json.js';
import { hashSecret, parseKey, sameHash } from './api-keys.js';
import type { AggregateStore } from '../event-sourcing/aggregate-store.js';
import type { Clock } from '../ports/clock.js';
import type { KeyUsage } from '../ports/key-usage.js';

/** Answers the caller of a bearer key. Undefined for missing, malformed, unknown, expired and revoked keys alike. */
export type Authenticate = (token: string | undefined) => Promise<Caller | undefined>;

interface Principal {
  readonly caller: Caller;
  readonly secretHash: string;
  /** A fast digest of the secret that was found to fit, so that it is not hashed with the pepper on every request. */
  fitting?: string;
  readonly expiresAt: number;
  readonly checkedAt: number;
}

/** A principal is asked for again after this long: revoking a key works on every process within 5 s. */
const trustedForMs = 3_000;
const rememberedPrincipals = 10_000;

/** Authenticates by the key's own stream. Why: a read model would see a revocation later than it is stored. */
export function makeAuthenticate(needs: {
  readonly store: AggregateStore;
  readonly pepper: Buffer;
  readonly clock: Clock;
  readonly usage: KeyUsage;
}): Authenticate {
  const principals = new LRUCache<string, Principal>({ max: rememberedPrincipals });
  const loading = new Map<string, Promise<Principal | undefined>>();

  const fresh = async (keyId: string, now: number): Promise<Principal | undefined> => {
    const found = (await needs.store.load(key, keyId)).state;
    if (found.status !== 'active') return undefined;
    const [owner, space, acting] = await Promise.all([
      needs.store.load(user, found.userId),
      needs.store.load(workspace, found.workspaceId),
      found.agentId === null ? undefined : needs.store.load(agent, found.agentId),
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
  };

  const principalOf = async (keyId: string, now: number): Promise<Principal | undefined> => {
    const known = principals.get(keyId);
    if (known && now - known.checkedAt < trustedForMs) return known;
    let asked = loading.get(keyId);
    if (!asked) {
      asked = fresh(keyId, now).finally(() => loading.delete(keyId));
      loading.set(keyId, asked);
    }
    const principal = await asked;
    if (principal) principals.set(keyId, principal);
    else principals.delete(keyId);
    return principal;
  };

  return async (token) => {
    const parts = token === undefined ? undefined : parseKey(token);
    if (!parts) return undefined;
    const now = needs.clock.now().getTime();
    const principal = await principalOf(parts.keyId, now);
    if (!principal || !fits(principal, parts.secret, needs.pepper)) return undefined;
    if (principal.expiresAt <= now) return undefined;
    needs.usage.touch(parts.keyId, principal.caller.userId);
    return principal.caller;
  };
}

function fits(principal: Principal, secret: string, pepper: Buffer): boolean {
  const digest = sha256(secret);
  if (principal.fitting !== undefined) return sameHash(principal.fitting, digest);
  if (!sameHash(principal.secretHash, hashSecret(pepper, secret))) return false;
  principal.fitting = digest;
  return true;
}
