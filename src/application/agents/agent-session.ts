import { z } from 'zod';
import { agent } from '../../domain/agent/agent.js';
import { agentEvents } from '../../domain/agent/events.js';
import { isRefusal } from '../../domain/kernel/refusal.js';
import { delegate, finishCall, isHeld, research } from '../../domain/research/research.js';
import type { PadRole } from '../../domain/kernel/roles.js';
import { create, remove, thread } from '../../domain/thread/thread.js';
import type { GatewayNeeds } from '../gateway/gateway.js';
import { derivedId } from '../kernel/ids.js';
import { appendMessage } from '../operations/message/append-message.js';
import { checkAt } from '../kernel/validation.js';
import { textOfBytes } from '../kernel/schemas.js';
import { actAs, type Act } from './act-as-agent.js';
import { converse, type AgentSession, type Tool } from './conversation.js';
import { truncate } from './truncate.js';
import { toConclusion, ConversationFailed, RunEnded } from './outcome.js';
import type { ClaimedRun } from '../research/claimed-run.js';
import { padTools, schemaOf } from './scratchpad-tools.js';

interface SessionSpec {
  readonly agentId: string;
  readonly role: PadRole;
  /** The seat's own thread. */
  readonly threadId: string;
  /** The agent whose words the opening is; none: the key that started the run. */
  readonly askedBy: string | undefined;
  /** Tells the steps of this conversation from those of others. */
  readonly name: string;
  readonly more: readonly Tool[];
}

/** The supervisor's conversation, to its answer. Throws what `converse` throws. */
export function supervise(needs: GatewayNeeds, held: ClaimedRun, question: string): Promise<string> {
  const { supervisorAgentId: agentId, supervisorThreadId: threadId, workerAgentIds, attempt, askedBy } = held.run;
  const more = workerAgentIds.length > 0 ? [delegateTool(needs, held)] : [];
  const sitting = { agentId, threadId, role: 'supervisor', askedBy, name: 'supervisor', more } as const;
  return runSession(needs, held, sitting, attempt === 1 ? question : `${question}\n\n${again}`);
}

const again = 'An earlier attempt at this ended before its time. What it noted is in the scratchpad.';

async function runSession(
  needs: GatewayNeeds,
  held: ClaimedRun,
  sitting: SessionSpec,
  opening: string,
): Promise<string> {
  const seat = await openSession(needs, held, sitting, opening);
  return converse(seat, opening, held.signal);
}

/** Sits an agent down: its thread opened and the opening stored there, its model, its tools. */
async function openSession(
  needs: GatewayNeeds,
  held: ClaimedRun,
  sitting: SessionSpec,
  opening: string,
): Promise<AgentSession> {
  const { run, signal } = held;
  const { agentId, role, name, askedBy, threadId, more } = sitting;
  const enrolled = await held.streams(name).eventAt(`${agent.category}-${agentId}`, 0);
  if (!enrolled) throw new ConversationFailed('agent_retired');
  const mind = agentEvents['agent.enrolled'].parse(enrolled.data);
  const workers = run.workerAgentIds.length;
  const model = await needs.shared.models.open(mind, { role, workers });
  await openThread(held, sitting);
  await messageRecorder(actAs(needs, run, askedBy, undefined, signal), threadId, name)('user', opening, '0');
  return {
    model,
    system: [mind.persona, role === 'supervisor' ? supervisorDuty(workers) : workerDuty].filter(Boolean).join('\n\n'),
    tools: [...padTools(role, named(actAs(needs, run, agentId, role, signal), name)), ...more],
    maxTurns: run.limits.maxTurns,
    remember: messageRecorder(actAs(needs, run, agentId, undefined, signal), threadId, name),
    assertClaimed: () => held.assertClaimed(),
  };
}

const named =
  (act: Act, name: string): Act =>
  (operation, input, step) =>
    act(operation, input, `${name} ${step}`);

/** Opens the seat's own thread. One that a run left behind when it was ended meanwhile is taken away again. */
async function openThread(held: ClaimedRun, { threadId, role, name }: SessionSpec): Promise<void> {
  const { id: researchId, ownerId, attempt } = held.run;
  const streams = held.streams(`thread of ${name}`);
  const data = { threadId, ownerId, title: `Research: ${role}`, metadata: { researchId } };
  const opened = await streams.execute(thread, threadId, (state) =>
    state.status === 'open' ? [] : create(state, data),
  );
  if (isRefusal(opened)) throw new ConversationFailed('conversation_lost');
  if (isHeld(await streams.load(research, researchId), attempt)) return;
  await held.streams(`no thread of ${name}`).execute(thread, threadId, remove);
  throw new RunEnded('taken');
}

const messageRecorder =
  (act: Act, threadId: string, name: string): AgentSession['remember'] =>
  async (role, text, step) => {
    const kept = await act(appendMessage, { threadId, role, content: truncate(text) }, `${name} ${role} ${step}`);
    if (isRefusal(kept)) throw new ConversationFailed('conversation_lost');
  };

const task = z.strictObject({
  task: textOfBytes(32 * 1024)
    .min(1)
    .meta({
      description: 'All that the worker has to know: it sees the scratchpad, and nothing of this conversation.',
    }),
});

/** Hands a task to the next worker. Whatever becomes of it, the call has one result, stored before it is told. */
function delegateTool(needs: GatewayNeeds, held: ClaimedRun): Tool {
  const { run } = held;
  let next = Object.keys(run.calls).length;
  return {
    name: 'delegate',
    description: 'Have a worker do a task and wait for its answer. Calls of one turn run at the same time.',
    inputSchema: schemaOf(task),
    beside: true,
    async use(input, step) {
      const parsed = checkAt('', task, input);
      if (isRefusal(parsed)) return `error: ${parsed.refused}: task ${parsed.issues?.[0]?.rule ?? ''}`;
      const agentId = run.workerAgentIds[next++ % run.workerAgentIds.length] ?? run.supervisorAgentId;
      const callId = derivedId('call', run.id, String(run.attempt), step);
      const call = { callId, agentId, threadId: derivedId('thread', run.id, callId) };
      const refusal = await held.decide(`delegate ${callId}`, (state, attempt) => delegate(state, attempt, call));
      if (refusal) return `error: ${refusal.refused}: ${refusal.message}`;
      const sitting = { ...call, role: 'worker', askedBy: run.supervisorAgentId, name: callId, more: [] } as const;
      const ended = await toConclusion(() => runSession(needs, held, sitting, task.parse(parsed.input).task));
      const failure = 'failure' in ended ? ended.failure : undefined;
      await held.decide(`finish ${callId}`, (state, attempt) => finishCall(state, attempt, callId, failure));
      needs.metrics.count('palimpsest_research_calls_total', { outcome: failure ?? 'succeeded' });
      if ('failure' in ended)
        needs.shared.log.info({ researchId: run.id, callId, ...ended }, 'a delegated call failed');
      return JSON.stringify(failure ? { outcome: 'failed', failure } : { outcome: 'succeeded', ...ended });
    },
  };
}

const supervisorDuty = (workers: number): string =>
  workers === 0
    ? 'You research a question alone. Keep your plan in the scratchpad with update_scratchpad, and what you find with append_scratchpad. When you know enough, answer without using a tool: that answer is the result.'
    : `You lead a research with ${workers} workers. You share one scratchpad with them: keep your plan in it with update_scratchpad, hand tasks out with delegate, read with read_scratchpad what was noted. When you know enough, answer without using a tool: that answer is the result.`;

const workerDuty =
  'You work on one task of a research. Note what you find with append_scratchpad, for everyone in it; read_scratchpad shows what others noted. When you are done, answer without using a tool: that answer goes to whoever gave you the task.';
