import { randomUUID } from 'node:crypto';
import { purge, scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import { derivedUuid } from '../../kernel/ids.js';
import type { PadRef } from '../../ports/pad-keys.js';
import { systemWork, type SystemNeeds } from '../../tenancy/tenants.js';

/** Stores `scratchpad.purged`, once: nothing of the deleted pad was left when the second pass looked. */
export const recordPurged =
  (needs: SystemNeeds) =>
  async ({ ownerId, scratchpadId }: PadRef): Promise<void> => {
    const context = { ownerId, correlationId: randomUUID(), commandId: derivedUuid('purged', scratchpadId) };
    await systemWork(needs, context).streams.execute(scratchpad, scratchpadId, purge);
  };
