import { findScratchpad } from '../../../../projections/scratchpads.js';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { scratchpad, update } from '../../../domain/scratchpad/scratchpad.js';
import { operation } from '../../operation.js';
import { metadata } from '../../schemas.js';
import { scratchpadInput, scratchpadShape } from './shapes.js';

export const updateScratchpad = operation({
  name: 'scratchpad.update',
  kind: 'command',
  summary: 'Replace the metadata of a scratchpad.',
  http: 'PATCH /v1/scratchpads/{scratchpadId}',
  scope: 'scratchpads:write',
  actsAs: 'supervisor',
  price: 'free',
  input: scratchpadInput.extend({ metadata: metadata() }),
  output: scratchpadShape,
  refuses: ['not_found', 'conflict'],
  async run({ scratchpadId, metadata }, { caller, db, streams }) {
    const updated = await streams.transact(scratchpad, scratchpadId, (state) => update(state, metadata));
    if (isRefusal(updated)) return updated;
    const row = await findScratchpad(db, caller.userId, scratchpadId);
    return row ? { ...row, metadata, updatedAt: updated.events[0]?.at ?? row.updatedAt } : refuse('not_found');
  },
});
