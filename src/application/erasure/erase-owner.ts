import { hasAudited, listAudit } from '../../../projections/audit.js';
import * as agents from '../../domain/agent/agent.js';
import * as keys from '../../domain/key/key.js';
import * as researches from '../../domain/research/research.js';
import * as threads from '../../domain/thread/thread.js';
import { BackendUnavailable } from '../faults/errors.js';
import type { ReadDb } from '../ports/read-models.js';
import type { Tenant } from '../tenancy/tenant.js';

/**
 * Destroys everything an erased user owns, then the key that their personal text is sealed under (docs/flows.md#erase-user).
 * Invariant: every step can be repeated; the operation does it at once, and the reaction on `user.erased` does it again.
 * Why the audit trail is read: it forgets nothing; what is begun meanwhile is met by the reaction on its own event.
 * Fails when: the trail does not show `upTo` in time → BackendUnavailable.
 */
export async function eraseOwner(
  tenant: Tenant,
  upTo: bigint | undefined,
  awaitPosition: (position: bigint) => Promise<boolean>,
): Promise<void> {
  // Another read model may be rebuilt for as long as it takes: of all of them only the trail has to be there.
  const isAudited = upTo === undefined || (await awaitPosition(upTo)) || (await hasAudited(tenant.reads, upTo));
  if (!isAudited) throw new BackendUnavailable('postgres');
  const { aggregates, reads } = tenant;
  for await (const keyId of idsEverOwned(reads, tenant.id, 'key.created', 'keyId')) {
    await aggregates.execute(keys.key, keyId, keys.revoke);
  }
  for await (const threadId of idsEverOwned(reads, tenant.id, 'thread.created', 'threadId')) {
    await eraseThread(tenant, threadId);
  }
  for await (const researchId of idsEverOwned(reads, tenant.id, 'research.started', 'researchId')) {
    await aggregates.execute(researches.research, researchId, (state) => researches.cancel(state, 'owner_erased'));
  }
  for await (const agentId of idsEverOwned(reads, tenant.id, 'agent.enrolled', 'agentId')) {
    await aggregates.execute(agents.agent, agentId, (state) => agents.retire(state, 'owner_erased'));
  }
  await tenant.credentials.destroyAll();
  await tenant.personalData.destroy();
}

async function eraseThread({ aggregates, scratchpads }: Tenant, threadId: string): Promise<void> {
  const thread = await aggregates.load(threads.thread, threadId);
  if (thread.status === 'open') await aggregates.execute(threads.thread, threadId, threads.remove);
  if (thread.status !== 'absent' && thread.scratchpadId !== null) await scratchpads.remove(thread.scratchpadId);
}

/** The ids, in this field, of everything that events of a type began. */
async function* idsEverOwned(reads: ReadDb, ownerId: string, type: string, field: string): AsyncIterable<string> {
  const limit = 200;
  let after: string | undefined;
  for (;;) {
    const rows = await listAudit(reads, { ownerId, type }, { order: 'asc', limit, after });
    for (const { data } of rows.slice(0, limit)) if (typeof data[field] === 'string') yield data[field];
    if (rows.length <= limit) return;
    after = rows[limit - 1]?.position;
  }
}
