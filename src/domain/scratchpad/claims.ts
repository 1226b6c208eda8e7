import type { Aggregate } from '../kernel/aggregate.js';
import type { Decision } from '../kernel/decision.js';
import { refuse, type Refusal } from '../kernel/refusal.js';
import type { ClaimEvent } from './events.js';

interface Lease {
  readonly holder: string;
  readonly entryId: string;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/** Leases on work. Why by the digest of their subject: no word of a ledger is in an event. */
export interface Claims {
  readonly leases: Readonly<Record<string, Lease>>;
}

export const claims: Aggregate<Claims, ClaimEvent> = {
  category: 'scratchpad_claims',
  initial: { leases: {} },
  evolve: {
    // Leases that ran out are dropped here, so that the state does not grow with the stream.
    'scratchpad.claim_taken': ({ leases }, { subjectSha256, holder, entryId, expiresAt }, { at }) => ({
      leases: {
        ...Object.fromEntries(Object.entries(leases).filter(([, lease]) => lease.expiresAt > at)),
        [subjectSha256]: { holder: nameOf(holder), entryId, expiresAt },
      },
    }),
  },
};

type Claim = Extract<ClaimEvent, { type: 'scratchpad.claim_taken' }>['data'];

const nameOf = ({ type, id }: Claim['holder']): string => `${type} ${id}`;

/** Takes a lease, or extends the holder's own. Fails when: another holder's lease is open → `conflict`. */
export const take = (state: Claims, claim: Claim, at: string): Decision<ClaimEvent, 'conflict'> =>
  heldByOther(state, claim, at) ?? [{ type: 'scratchpad.claim_taken', data: claim }];

/** Refuses a claim while another holder's lease on its subject is open. */
export function heldByOther({ leases }: Claims, claim: Claim, at: string): Refusal<'conflict'> | undefined {
  const held = leases[claim.subjectSha256];
  if (!held || held.expiresAt <= at || held.holder === nameOf(claim.holder)) return undefined;
  return refuse('conflict', `This is claimed until ${held.expiresAt}.`, {
    reason: 'claimed',
    facts: { entryId: held.entryId, expiresAt: held.expiresAt },
  });
}
