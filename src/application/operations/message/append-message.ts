import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { messageRoles } from '../../../domain/thread/events.js';
import { appendMessage as append, thread } from '../../../domain/thread/thread.js';
import { operation } from '../../operation/operation.js';
import { id, textOfBytes } from '../../kernel/schemas.js';
import { messageShape } from './shapes.js';

export const maxMessageBytes = 256 * 1024;

export const appendMessage = operation({
  name: 'message.append',
  kind: 'command',
  summary: 'Append a message to a thread.',
  http: 'POST /v1/threads/{threadId}/messages',
  scope: 'messages:write',
  creates: true,
  input: z.strictObject({ threadId: id('thread'), role: z.enum(messageRoles), content: textOfBytes(maxMessageBytes) }),
  output: messageShape,
  refuses: ['not_found', 'conflict'],
  async run({ threadId, role, content }, { command, tenant }) {
    const { author } = command;
    const messageId = command.newId('message');
    const appended = await tenant.aggregates.execute(thread, threadId, (state) =>
      append(state, { messageId, role, content, author }),
    );
    if (isRefusal(appended)) return appended;
    const [event] = appended.events;
    const index = event?.type === 'message.appended' ? event.data.index : 0;
    return { id: messageId, threadId, index, role, content, author, createdAt: event?.at ?? '' };
  },
});
