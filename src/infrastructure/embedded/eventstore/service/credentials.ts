import { createHash, timingSafeEqual } from 'node:crypto';
import type { Call } from '../grpc/call.js';
import { CallError, Status } from '../grpc/status.js';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Checks basic credentials, in the same time for each wrong one. Without any configured, everyone may. */
export function basicAuthentication(accepted: readonly Credentials[]): (call: Call) => void {
  const digests = accepted.map(({ username, password }) => digestOf(basic(username, password)));
  return (call) => {
    if (digests.length === 0) return;
    const given = digestOf(call.headers.authorization ?? '');
    const known = digests.map((digest) => timingSafeEqual(digest, given));
    if (!known.includes(true)) throw new CallError(Status.unauthenticated, 'Wrong or missing credentials.');
  };
}

const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
