import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { currentGeneration, entriesIn, ledger } from '../../../domain/scratchpad/ledger.js';
import { scratchpad, update } from '../../../domain/scratchpad/scratchpad.js';
import { operation } from '../../operation/operation.js';
import { metadata } from '../../kernel/schemas.js';
import { scratchpadInput, scratchpadShape } from './shapes.js';

export const setMetadata = operation({
  name: 'scratchpad.metadata.set',
  recordedAs: 'scratchpad.update',
  kind: 'command',
  summary: 'Replace the metadata of a scratchpad.',
  http: 'PATCH /v1/scratchpads/{scratchpadId}',
  scope: 'scratchpads:write',
  actsAs: 'supervisor',
  input: scratchpadInput.extend({ metadata: metadata() }),
  output: scratchpadShape,
  refuses: ['not_found', 'conflict'],
  async run({ scratchpadId, metadata }, { tenant }) {
    const { aggregates } = tenant;
    const updated = await aggregates.execute(scratchpad, scratchpadId, (state) => update(state, metadata));
    if (isRefusal(updated)) return updated;
    const { state, events } = updated;
    if (state.status !== 'open') return refuse('not_found');
    const { threadId, contentRevision, createdAt } = state;
    return {
      id: scratchpadId,
      threadId,
      ownerId: tenant.id,
      metadata,
      contentRevision,
      entryCount: entriesIn(currentGeneration(await aggregates.load(ledger, scratchpadId))),
      createdAt,
      updatedAt: events[0]?.at ?? createdAt,
    };
  },
});
