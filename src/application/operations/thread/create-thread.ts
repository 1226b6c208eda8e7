import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { create, thread } from '../../../domain/thread/thread.js';
import { operation } from '../../operation/operation.js';
import { metadata, name } from '../../kernel/schemas.js';
import { threadShape } from './shapes.js';

export const createThread = operation({
  name: 'thread.create',
  kind: 'command',
  summary: 'Open a thread: messages, and at most one scratchpad.',
  http: 'POST /v1/threads',
  scope: 'threads:write',
  creates: true,
  input: z.strictObject({ title: name().nullable().default(null), metadata: metadata().default({}) }),
  output: threadShape,
  refuses: ['conflict'],
  async run({ title, metadata }, { command, tenant }) {
    const threadId = command.newId('thread');
    const data = { threadId, ownerId: tenant.id, title, metadata };
    const created = await tenant.aggregates.execute(thread, threadId, (state) => create(state, data));
    if (isRefusal(created)) return created;
    const at = created.events[0]?.at ?? '';
    return { id: threadId, title, metadata, ownerId: tenant.id, scratchpadId: null, createdAt: at, updatedAt: at };
  },
});
