import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { currentGeneration, entriesIn, ledger } from '../../../domain/scratchpad/ledger.js';
import { scratchpad, update } from '../../../domain/scratchpad/scratchpad.js';
import { operation } from '../../operation/operation.js';
import { metadata } from '../../kernel/schemas.js';
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
  async run({ scratchpadId, metadata }, { caller, streams }) {
    const updated = await streams.execute(scratchpad, scratchpadId, (state) => update(state, metadata));
    if (isRefusal(updated)) return updated;
    const { state, events } = updated;
    if (state.status !== 'open') return refuse('not_found');
    const { threadId, contentRevision, createdAt } = state;
    const entryCount = entriesIn(currentGeneration(await streams.load(ledger, scratchpadId)));
    return {
      ...{ id: scratchpadId, threadId, ownerId: caller.userId, metadata, contentRevision, entryCount },
      ...{ createdAt, updatedAt: events[0]?.at ?? createdAt },
    };
  },
});
