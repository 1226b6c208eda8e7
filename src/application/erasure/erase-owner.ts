import { hasAudited, listAudit } from '../../../projections/audit.js';
import type { ReadDb } from '../../../projections/kit/read-db.js';
import * as agents from '../../domain/agent/agent.js';
import * as keys from '../../domain/key/key.js';
import * as researches from '../../domain/research/research.js';
import * as threads from '../../domain/thread/thread.js';
import { removeScratchpad, type PadContext } from '../scratchpad/lifecycle.js';
import { BackendUnavailable } from '../faults/errors.js';
import type { PersonalDataKeys } from '../ports/personal-data-keys.js';
import type { CredentialVault } from '../ports/credential-vault.js';

export interface ErasureWork extends PadContext {
  readonly db: ReadDb;
  readonly subjects: PersonalDataKeys;
  readonly vault: CredentialVault;
  shown(position: bigint): Promise<boolean>;
}

/**
 * Walks everything an erased user owns and destroys it, then the key that their personal text is sealed under.
 * Idempotent: the operation does it at once, and the reaction on `user.erased` does it again. What there is to destroy is
 * read from the audit trail, which forgets nothing; what was begun meanwhile is met by the reaction on its own event.
 */
export async function eraseOwner(userId: string, upTo: bigint | undefined, work: ErasureWork): Promise<void> {
  // While the trail is behind, its backend does not do its work: a reaction waits for it and then goes on by itself.
  if (upTo !== undefined && !(await isAudited(upTo, work))) throw new BackendUnavailable('postgres');
  for await (const keyId of idsEverOwned(work.db, userId, 'key.created', 'keyId')) {
    await work.streams.execute(keys.key, keyId, keys.revoke);
  }
  for await (const threadId of idsEverOwned(work.db, userId, 'thread.created', 'threadId')) {
    const deleted = await work.streams.load(threads.thread, threadId);
    if (deleted.status === 'open') await work.streams.execute(threads.thread, threadId, threads.remove);
    if (deleted.status !== 'absent' && deleted.scratchpadId !== null)
      await removeScratchpad(deleted.scratchpadId, userId, work);
  }
  for await (const researchId of idsEverOwned(work.db, userId, 'research.started', 'researchId')) {
    await work.streams.execute(researches.research, researchId, (state) => researches.cancel(state, 'owner_erased'));
  }
  for await (const agentId of idsEverOwned(work.db, userId, 'agent.enrolled', 'agentId')) {
    await work.streams.execute(agents.agent, agentId, (state) => agents.retire(state, 'owner_erased'));
  }
  await work.vault.destroyOwner(userId);
  await work.subjects.destroy(userId);
}

/** Another read model may be rebuilt for as long as it takes: of all of them only the trail has to be there. */
const isAudited = async (position: bigint, work: ErasureWork): Promise<boolean> =>
  (await work.shown(position)) || hasAudited(work.db, position);

/** The ids, in this field, of everything that events of a type began. */
async function* idsEverOwned(db: ReadDb, ownerId: string, type: string, field: string): AsyncIterable<string> {
  const limit = 200;
  let after: string | undefined;
  for (;;) {
    const rows = await listAudit(db, { ownerId, type }, { order: 'asc', limit, after });
    for (const { data } of rows.slice(0, limit)) if (typeof data[field] === 'string') yield data[field];
    if (rows.length <= limit) return;
    after = rows[limit - 1]?.position;
  }
}
