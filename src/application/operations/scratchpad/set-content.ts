import { isRefusal } from '../../../domain/kernel/refusal.js';
import { setContent as set } from '../../../domain/scratchpad/scratchpad.js';
import { operation } from '../../operation/operation.js';
import { replaceContent, sizeOf } from '../../scratchpad/content.js';
import { textOfBytes } from '../../kernel/schemas.js';
import { contentShape, maxContentBytes, scratchpadInput } from './shapes.js';

/** With `If-Match` it happens only at that revision; without, the last writer wins. */
export const setContent = operation({
  name: 'scratchpad.content.set',
  kind: 'command',
  summary: "Replace a scratchpad's content.",
  http: 'PUT /v1/scratchpads/{scratchpadId}/content',
  scope: 'scratchpads:write',
  actsAs: 'supervisor',
  price: 'free',
  input: scratchpadInput.extend({ content: textOfBytes(maxContentBytes) }),
  output: contentShape,
  refuses: ['not_found', 'conflict'],
  etag: ({ revision }) => `"r${revision}"`,
  async run({ scratchpadId, content }, context) {
    const size = sizeOf(content, context.author);
    const pad = { scratchpadId, ownerId: context.caller.userId };
    const stored = await replaceContent(pad, content, context, (state) => set(state, size, context.ifMatch));
    if (isRefusal(stored)) return stored;
    return {
      scratchpadId,
      content,
      revision: stored.revision,
      bytes: size.bytes,
      sha256: size.sha256,
      updatedAt: stored.at,
    };
  },
});
