import type { Aggregate } from '../kernel/aggregate.js';
import type { Decision } from '../kernel/decision.js';
import { refuse } from '../kernel/refusal.js';
import type { CredentialEvent } from './events.js';

/**
 * What became of an owner's credential for a provider after it was first taken in (which `agent.enrolled` tells).
 * Positions are decimal text, as the store's are beyond what a number holds.
 */
export interface Credential {
  /** Position of the enrollment whose rotation was noted last. */
  readonly rotatedAt: string;
  /** Versions up to this position are gone. */
  readonly deletedUpTo: string;
}

export const credential: Aggregate<Credential, CredentialEvent> = {
  category: 'credential',
  initial: { rotatedAt: '-1', deletedUpTo: '-1' },
  evolve: {
    'credential.rotated': (state, { position }) => ({ ...state, rotatedAt: position }),
    'credential.deleted': (state, { upTo }) => ({ ...state, deletedUpTo: upTo }),
  },
};

type DataOf<Type extends CredentialEvent['type']> = Extract<CredentialEvent, { type: Type }>['data'];

/** Noting a rotation twice, or one that a later one has overtaken, is nothing new. */
export const rotate = (state: Credential, data: DataOf<'credential.rotated'>): Decision<CredentialEvent> =>
  isLater(data.position, state.rotatedAt) ? [{ type: 'credential.rotated', data }] : [];

/**
 * `latest` is the position of the latest version there is, or undefined when there is none. Deleting what was deleted
 * already is one wish granted once.
 */
export const remove = (
  state: Credential,
  data: Omit<DataOf<'credential.deleted'>, 'upTo'>,
  latest: string | undefined,
): Decision<CredentialEvent, 'not_found'> => {
  if (latest !== undefined && isLater(latest, state.deletedUpTo)) {
    return [{ type: 'credential.deleted', data: { ...data, upTo: latest } }];
  }
  return state.deletedUpTo === '-1' ? refuse('not_found') : [];
};

const isLater = (position: string, than: string): boolean => BigInt(position) > BigInt(than);
