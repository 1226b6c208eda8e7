import { isRefusal } from '../../../domain/kernel/refusal.js';
import { sha256 } from '../../kernel/canonical-json.js';
import { operation } from '../../operation/operation.js';
import { textOfBytes } from '../../kernel/schemas.js';
import { maxContentBytes } from '../../scratchpad/limits.js';
import { contentShape, scratchpadInput } from './shapes.js';

/** With `If-Match` it happens only at that revision; without, the last writer wins. */
export const setContent = operation({
  name: 'scratchpad.content.set',
  kind: 'command',
  summary: "Replace a scratchpad's content.",
  http: 'PUT /v1/scratchpads/{scratchpadId}/content',
  scope: 'scratchpads:write',
  actsAs: 'supervisor',
  input: scratchpadInput.extend({ content: textOfBytes(maxContentBytes) }),
  output: contentShape,
  refuses: ['not_found', 'conflict'],
  etag: ({ revision }) => `"r${revision}"`,
  async run({ scratchpadId, content }, { tenant, ifMatch }) {
    const stored = await tenant.scratchpads.pad(scratchpadId).setContent(content, ifMatch);
    if (isRefusal(stored)) return stored;
    return {
      scratchpadId,
      content,
      revision: stored.revision,
      bytes: Buffer.byteLength(content),
      sha256: sha256(content),
      updatedAt: stored.at,
    };
  },
});
