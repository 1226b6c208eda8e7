import { purge, scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import type { PadRef } from '../../ports/pad-keys.js';
import { systemPad, type MaintenanceNeeds } from './needs.js';

/** Stores `scratchpad.purged`, once: the second pass found nothing left of the deleted pad. */
export const recordPurge =
  (needs: MaintenanceNeeds) =>
  async (ref: PadRef): Promise<void> => {
    const { streams, scratchpadId } = systemPad(needs, ref, 'purged');
    await streams.aggregates.execute(scratchpad, scratchpadId, purge);
  };
