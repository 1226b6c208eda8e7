import { agent } from '../../domain/agent/agent.js';
import { agentEvents } from '../../domain/agent/events.js';
import { isRefusal } from '../../domain/kernel/refusal.js';
import type { PadRole } from '../../domain/kernel/roles.js';
import { appendMessage } from '../operations/message/append-message.js';
import { actAs, type Act, type AgentNeeds, type AgentWork } from './act-as-agent.js';
import { converse, type AgentSession, type Tool } from './conversation.js';
import { ConversationFailed } from './outcome.js';
import { scratchpadTools } from './scratchpad-tools.js';
import { truncate } from './truncate.js';

/** Which agent converses, in which role, and where its conversation is stored. */
export interface SessionSpec {
  readonly agentId: string;
  readonly role: PadRole;
  /** Workers that it may delegate to. */
  readonly workers: number;
  /** What the model is to do, after the agent's persona. */
  readonly duty: string;
  /** The session's own thread. */
  readonly threadId: string;
  /** The agent that wrote the opening; undefined: the key that began the work. */
  readonly askedBy: string | undefined;
  /** Part of the names of every step, so that conversations of one work do not share any. */
  readonly name: string;
  /** Tools beside those of the scratchpad. */
  readonly moreTools: readonly Tool[];
  /** Opens the session's thread. */
  openThread(): Promise<void>;
}

/** Runs an agent's conversation to its answer. Fails as `converse` does, and when: the agent is gone → ConversationFailed. */
export async function runSession(
  needs: AgentNeeds,
  work: AgentWork,
  spec: SessionSpec,
  opening: string,
): Promise<string> {
  const session = await openSession(needs, work, spec);
  const { threadId, askedBy, name } = spec;
  await messageRecorder(actAs(needs, work, { agentId: askedBy }), threadId, name)('user', opening, '0');
  return converse(session, opening, work.signal);
}

/** Opens an agent's model and its thread. */
async function openSession(needs: AgentNeeds, work: AgentWork, spec: SessionSpec): Promise<AgentSession> {
  const { agentId, role, workers, duty, name, threadId, moreTools } = spec;
  const enrolled = await work.events.at(`${agent.category}-${agentId}`, 0);
  if (!enrolled) throw new ConversationFailed('agent_retired');
  const config = agentEvents['agent.enrolled'].parse(enrolled.data);
  const model = await needs.models.open(config, { role, workers });
  await spec.openThread();
  const onPad = scratchpadTools(work.scratchpadId, role, withName(name, actAs(needs, work, { agentId, role })));
  return {
    model,
    system: [config.persona, duty].filter(Boolean).join('\n\n'),
    tools: [...onPad, ...moreTools],
    maxTurns: work.maxTurns,
    record: messageRecorder(actAs(needs, work, { agentId }), threadId, name),
    assertClaimed: () => work.assertClaimed(),
  };
}

const withName =
  (name: string, act: Act): Act =>
  (operation, input, step) =>
    act(operation, input, `${name} ${step}`);

const messageRecorder =
  (act: Act, threadId: string, name: string): AgentSession['record'] =>
  async (role, text, step) => {
    const stored = await act(appendMessage, { threadId, role, content: truncate(text) }, `${name} ${role} ${step}`);
    if (isRefusal(stored)) throw new ConversationFailed('conversation_lost');
  };
