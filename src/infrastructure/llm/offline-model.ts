import type { Conversation, Model, AgentRole, ModelTurn, ToolCall } from '../../application/ports/models.js';

/**
 * Stands in for a model: the same conversation always gets the same turn. A supervisor writes a plan, delegates to each of
 * its workers once, reads what they noted and concludes; a worker notes its task.
 */
export const makeOfflineModel = ({ role, workers }: AgentRole): Model => ({
  complete: async (conversation, signal) => {
    signal.throwIfAborted();
    return role === 'supervisor' ? supervise(conversation, workers) : work(conversation);
  },
});

function supervise(conversation: Conversation, workers: number): ModelTurn {
  const question = firstWords(conversation);
  const part = (n: number) => `Part ${n} of ${workers}: ${question}`;
  switch (turnNumber(conversation)) {
    case 1:
      return using(conversation, `I split this among ${workers} workers.`, [
        ['update_scratchpad', { content: `Plan for: ${question}` }],
        ...Array.from({ length: workers }, (_, n) => ['delegate', { task: part(n + 1) }] as const),
      ]);
    case 2:
      return using(conversation, 'I read what was noted.', [['read_scratchpad', {}]]);
    case 3:
      return using(conversation, 'I note what it comes to.', [
        ['append_scratchpad', { note: `Concluded from ${workers} parts: ${question}` }],
      ]);
    default:
      return { text: `Concluded: ${question}`, calls: [] };
  }
}

function work(conversation: Conversation): ModelTurn {
  const task = firstWords(conversation);
  if (turnNumber(conversation) > 1) return { text: `Done: ${task}`, calls: [] };
  return using(conversation, 'I note it.', [['append_scratchpad', { note: `Noted: ${task}` }]]);
}

const turnNumber = ({ messages }: Conversation): number =>
  messages.filter(({ role }) => role === 'assistant').length + 1;

/** The beginning of the first message: enough to recognise the question. */
function firstWords({ messages: [first] }: Conversation): string {
  return first?.role === 'user' ? Array.from(first.text).slice(0, 500).join('') : '';
}

const using = (
  conversation: Conversation,
  text: string,
  uses: readonly (readonly [tool: string, input: Readonly<Record<string, unknown>>])[],
): ModelTurn => ({
  text,
  calls: uses.map(([tool, input], n): ToolCall => ({ id: `call-${turnNumber(conversation)}-${n + 1}`, tool, input })),
});
