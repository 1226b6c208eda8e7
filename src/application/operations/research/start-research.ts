import { z } from 'zod';
import { agent, isLive } from '../../../domain/agent/agent.js';
import { agentEvents } from '../../../domain/agent/events.js';
import { isRefusal, refuse, type Refusal } from '../../../domain/kernel/refusal.js';
import { research, start } from '../../../domain/research/research.js';
import type { ResearchEvent } from '../../../domain/research/events.js';
import { beginResearch, thread } from '../../../domain/thread/thread.js';
import type { OperationContext } from '../../operation/context.js';
import { isUuid } from '../../kernel/ids.js';
import type { CannotRun } from '../../ports/models.js';
import { operation } from '../../operation/operation.js';
import { provisionScratchpad } from '../../scratchpad/lifecycle.js';
import { id, textOfBytes, uuidId } from '../../kernel/schemas.js';
import { researchShape } from './shapes.js';

/** In UTF-8 bytes. */
const maxQuestionBytes = 32 * 1024;

export const startResearch = operation({
  name: 'research.start',
  kind: 'command',
  summary: 'Have a supervisor and its workers research a question, with the scratchpad of a thread between them.',
  http: 'POST /v1/research',
  scope: 'research:write',
  price: 'free',
  creates: true,
  input: z.strictObject({
    threadId: id('thread'),
    question: textOfBytes(maxQuestionBytes).min(1),
    supervisorAgentId: uuidId(),
    workerAgentIds: z
      .array(z.string().max(64))
      .max(16)
      .default([])
      .meta({ description: 'Agents that calls are delegated to, in turn. Without any, the supervisor works alone.' }),
    maxTurns: z
      .number()
      .int()
      .min(1)
      .max(100)
      .default(16)
      .meta({ description: 'How often one agent is asked in one conversation before that counts as failed.' }),
    maxCalls: z.number().int().min(0).max(64).default(16).meta({ description: 'Delegated calls of the whole run.' }),
    deadlineSeconds: z.number().int().min(1).max(3600).default(600),
  }),
  output: researchShape,
  refuses: ['not_found', 'conflict', 'precondition_failed'],
  async run(input, context) {
    const { caller, ids, streams } = context;
    const researchId = ids.make('research');
    const wasStarted = (await streams.load(research, researchId)).status !== 'absent';
    // A command that was stored answers what it stored, whatever became of its agents since.
    const scratchpadId = wasStarted ? '' : await readyPad(input, researchId, context);
    if (isRefusal(scratchpadId)) return scratchpadId;
    const { threadId, question, supervisorAgentId, workerAgentIds, ...limits } = input;
    const data = {
      ...{ researchId, ownerId: caller.userId, threadId, scratchpadId, question, supervisorAgentId, workerAgentIds },
      ...{ supervisorThreadId: ids.make('thread', 'supervisor'), limits },
      ...{ keyId: caller.keyId, workspaceId: caller.workspaceId },
    };
    const started = await streams.execute(research, researchId, (state, at) => start(state, data, at));
    if (isRefusal(started)) return started;
    const [event] = started.events;
    if (event?.type !== 'research.started') throw new Error('A started run begins with its start.');
    return shown(event.data, event.at);
  },
});

const shown = (data: Extract<ResearchEvent, { type: 'research.started' }>['data'], at: string) => ({
  ...data,
  ...{ id: data.researchId, status: 'queued' as const, attempt: 0, reason: null, answer: null },
  ...{ createdAt: at, finishedAt: null },
});

type Asked = {
  readonly threadId: string;
  readonly supervisorAgentId: string;
  readonly workerAgentIds: readonly string[];
};

/** The thread's scratchpad, made if there is none: here it is resolved, once for the whole run. */
async function readyPad(
  { threadId, supervisorAgentId, workerAgentIds }: Asked,
  researchId: string,
  context: OperationContext,
): Promise<string | Refusal<'not_found' | 'conflict' | 'precondition_failed'>> {
  const { streams, ids, caller } = context;
  if ((await streams.load(thread, threadId)).status !== 'open') return refuse('not_found');
  for (const agentId of new Set([supervisorAgentId, ...workerAgentIds])) {
    const unmet = await unmetOf(agentId, context);
    if (unmet) return unmet;
  }
  const begun = await streams.execute(thread, threadId, (state) =>
    beginResearch(state, researchId, ids.make('scratchpad')),
  );
  if (isRefusal(begun)) return begun;
  const scratchpadId = begun.state.status === 'open' ? begun.state.scratchpadId : null;
  if (scratchpadId === null) return refuse('not_found');
  const pad = await provisionScratchpad({ scratchpadId, threadId, ownerId: caller.userId }, context);
  return pad.status === 'open' ? scratchpadId : refuse('not_found');
}

const sentences: Readonly<Record<CannotRun, string>> = {
  harness_not_runnable: 'Agents of this harness are enrolled here, and run elsewhere.',
  provider_not_configured: 'This server has no address of the provider of this agent (PALIMPSEST_MODEL_URLS).',
  credential_missing: 'You keep no credential for the provider of this agent.',
};

async function unmetOf(
  agentId: string,
  { caller, streams, models }: OperationContext,
): Promise<Refusal<'not_found' | 'precondition_failed'> | undefined> {
  if (!isUuid(agentId) || !isLive(await streams.load(agent, agentId), caller.userId)) return refuse('not_found');
  const enrolled = await streams.eventAt(`${agent.category}-${agentId}`, 0);
  const mind = agentEvents['agent.enrolled'].parse(enrolled?.data);
  const reason = await models.unavailableReason(mind);
  return reason && refuse('precondition_failed', sentences[reason], { reason, facts: { agentId } });
}
