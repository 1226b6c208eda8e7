import { sha256 } from '../kernel/canonical-json.js';
import type { Clock } from '../ports/clock.js';
import type { KeyUsage } from '../ports/key-usage.js';
import { hashSecret, parseKey, sameHash } from './api-keys.js';
import type { Caller } from './caller.js';
import type { Principal, Principals } from './principals.js';

/** Answers the caller of a bearer key. Undefined for missing, malformed, unknown, expired and revoked keys alike. */
export type Authenticate = (token: string | undefined) => Promise<Caller | undefined>;

/** Authenticates by a key's secret and by what its principal is now. */
export function makeAuthenticate(needs: {
  readonly principals: Principals;
  readonly pepper: Buffer;
  readonly clock: Clock;
  readonly usage: KeyUsage;
}): Authenticate {
  return async (token) => {
    const parts = token === undefined ? undefined : parseKey(token);
    if (!parts) return undefined;
    const principal = await needs.principals.of(parts.keyId);
    if (!principal || !fits(principal, parts.secret, needs.pepper)) return undefined;
    if (principal.expiresAt <= needs.clock.now().getTime()) return undefined;
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
