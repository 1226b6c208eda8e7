import { agent } from '../../domain/agent/agent.js';
import type { AggregateStore } from '../event-sourcing/aggregate-store.js';
import type { CredentialVault, KeptCredentials, StagedVersion, StagedVersions } from '../ports/credential-vault.js';

export interface ResolutionNeeds {
  readonly store: Pick<AggregateStore, 'events'>;
  readonly vault: Pick<StagedVersions, 'staged' | 'activate' | 'discard'>;
}

/** What became of a staged version: the stream of its enrollment says. */
export type StagedResolution = 'activated' | 'discarded' | 'undecided';

/** Brings a staged version to what its enrollment came to; `undecided` while no event says anything about it. */
export async function resolveStaged(
  version: StagedVersion,
  { store, vault }: ResolutionNeeds,
): Promise<StagedResolution> {
  const [first] = await store.events(`${agent.category}-${version.agentId}`, 0, 1);
  if (!first) return 'undecided';
  if (first.type === 'agent.enrolled' && first.data['credentialVersionId'] === version.id) {
    await vault.activate(version, first.position);
    return 'activated';
  }
  // Another run of the command was first, or the attempt was abandoned: no event names this version, and none will.
  await vault.discard(version);
  return 'discarded';
}

/** Resolves all that an owner has staged for a provider. Why: what was committed counts before it is made active. */
export async function resolveAllStaged(ownerId: string, provider: string, needs: ResolutionNeeds): Promise<void> {
  for (const version of await needs.vault.staged(ownerId, provider)) await resolveStaged(version, needs);
}

/** Credentials for what uses them: staged versions are resolved first. */
export function usableCredentials(
  store: Pick<AggregateStore, 'events'>,
  vault: CredentialVault,
): Pick<KeptCredentials, 'has' | 'open'> {
  return {
    async has(ownerId, provider) {
      if (await vault.has(ownerId, provider)) return true;
      await resolveAllStaged(ownerId, provider, { store, vault });
      return vault.has(ownerId, provider);
    },
    async open(ownerId, provider) {
      await resolveAllStaged(ownerId, provider, { store, vault });
      return vault.open(ownerId, provider);
    },
  };
}
