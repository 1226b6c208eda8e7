import type { Aggregate } from '../kernel/aggregate.js';
import type { Decision } from '../kernel/decision.js';
import { refuse } from '../kernel/refusal.js';
import type { CredentialEvent } from './events.js';

/**
 * An owner's credential for a provider after its first intake, which `agent.enrolled` records.
 * Why positions are decimal text: the event store's exceed the exact range of a number.
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

/** Records a rotation, unless that one or a later one is recorded. */
export const rotate = (state: Credential, data: DataOf<'credential.rotated'>): Decision<CredentialEvent> =>
  isLater(data.position, state.rotatedAt) ? [{ type: 'credential.rotated', data }] : [];

/**
 * Deletes the versions up to `latest`, the position of the latest version (undefined: there is none). Deleting again changes
 * nothing. Fails when: there never was a version → `not_found`.
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
