import { operation } from '../../operation/operation.js';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { contentShape, scratchpadInput } from './shapes.js';

export const getContent = operation({
  name: 'scratchpad.content.get',
  kind: 'query',
  summary: "Read a scratchpad's content: the supervisor's current plan.",
  http: 'GET /v1/scratchpads/{scratchpadId}/content',
  scope: 'scratchpads:read',
  input: scratchpadInput,
  output: contentShape,
  refuses: ['not_found'],
  etag: ({ revision }) => `"r${revision}"`,
  async run({ scratchpadId }, { tenant }) {
    const content = await tenant.scratchpads.pad(scratchpadId).content();
    return isRefusal(content) ? content : { scratchpadId, ...content };
  },
});
