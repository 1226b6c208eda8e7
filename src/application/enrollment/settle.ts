import { agent } from '../../domain/agent/agent.js';
import type { Streams } from '../transact.js';
import type { StagedVersion, Vault } from '../vault.js';

/** What is to become of a staged version: its enrollment's stream says. */
export type Settled = 'activated' | 'discarded' | 'undecided';

/** Brings a staged version to what its enrollment came to; `undecided` while no event says anything about it. */
export async function settleStaged(
  version: StagedVersion,
  { streams, vault }: { readonly streams: Streams; readonly vault: Vault },
): Promise<Settled> {
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
