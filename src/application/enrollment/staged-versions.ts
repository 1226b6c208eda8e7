import { randomUUID } from 'node:crypto';
import { agent } from '../../domain/agent/agent.js';
import { systemStreams, type SystemNeeds } from '../tenancy/tenants.js';
import type { Streams } from '../event-sourcing/aggregates.js';
import type { StagedVersion, CredentialVault } from '../ports/credential-vault.js';

interface Work {
  readonly streams: Streams;
  readonly vault: CredentialVault;
}

/** What is to become of a staged version: its enrollment's stream says. */
export type StagedResolution = 'activated' | 'discarded' | 'undecided';

/** Brings a staged version to what its enrollment came to; `undecided` while no event says anything about it. */
export async function resolveStaged(version: StagedVersion, { streams, vault }: Work): Promise<StagedResolution> {
  const first = await streams.first(`${agent.category}-${version.agentId}`);
  if (!first) return 'undecided';
  if (first.type === 'agent.enrolled' && first.data['credentialVersionId'] === version.id) {
    await vault.activate(version, first.position);
    return 'activated';
  }
  // Another run of the command was first, or the attempt was given up: nothing names this version, and nothing will.
  await vault.discard(version);
  return 'discarded';
}

/** The same for all that an owner has staged for a provider: what was committed counts, whoever is yet to make it active. */
export async function resolveAllStaged(ownerId: string, provider: string, work: Work): Promise<void> {
  for (const version of await work.vault.staged(ownerId, provider)) await resolveStaged(version, work);
}

/** An owner's credentials for what uses them. */
export function usableCredentials(needs: SystemNeeds): Pick<CredentialVault, 'has' | 'open'> {
  const { vault } = needs;
  const settle = (ownerId: string, provider: string) =>
    resolveAllStaged(ownerId, provider, { vault, streams: systemStreams(needs, ownerId, randomUUID()) });
  return {
    async has(ownerId, provider) {
      await settle(ownerId, provider);
      return vault.has(ownerId, provider);
    },
    async open(ownerId, provider) {
      await settle(ownerId, provider);
      return vault.open(ownerId, provider);
    },
  };
}
