import { z } from 'zod';
import { agent, isLive } from '../../../domain/agent/agent.js';
import { agentEvents } from '../../../domain/agent/events.js';
import { isRefusal, refuse, type Refusal } from '../../../domain/kernel/refusal.js';
import { research, start } from '../../../domain/research/research.js';
import type { ResearchEvent } from '../../../domain/research/events.js';
import { beginResearch, thread } from '../../../domain/thread/thread.js';
import type { OperationContext } from '../../operation/context.js';
import { isUuid } from '../../kernel/ids.js';
import type { CannotRun, Models } from '../../ports/models.js';
import type { Tenant } from '../../tenancy/tenant.js';
import { operation } from '../../operation/operation.js';
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
  uses: ['models'],
  async run(input, context, { models }) {
    const { caller, command, tenant } = context;
    const researchId = command.newId('research');
    const wasStarted = (await tenant.aggregates.load(research, researchId)).status !== 'absent';
    // A command that was stored answers what it stored, whatever became of its agents since.
    const scratchpadId = wasStarted ? '' : await resolveScratchpad(input, researchId, context, models);
    if (isRefusal(scratchpadId)) return scratchpadId;
    const { threadId, question, supervisorAgentId, workerAgentIds, ...limits } = input;
    const data = {
      researchId,
      ownerId: tenant.id,
      threadId,
      scratchpadId,
      question,
      supervisorAgentId,
      workerAgentIds,
      supervisorThreadId: command.newId('thread', 'supervisor'),
      limits,
      keyId: caller.keyId,
      workspaceId: caller.workspaceId,
    };
    const started = await tenant.aggregates.execute(research, researchId, (state, at) => start(state, data, at));
    if (isRefusal(started)) return started;
    const [event] = started.events;
    if (event?.type !== 'research.started') throw new Error('A started run begins with its start.');
    return queued(event.data, event.at);
  },
});

const queued = (data: Extract<ResearchEvent, { type: 'research.started' }>['data'], at: string) => ({
  ...data,
  id: data.researchId,
  status: 'queued' as const,
  attempt: 0,
  reason: null,
  answer: null,
  createdAt: at,
  finishedAt: null,
});

interface Asked {
  readonly threadId: string;
  readonly supervisorAgentId: string;
  readonly workerAgentIds: readonly string[];
}

/** The thread's scratchpad, made if there is none: resolved here, once for the whole run. */
async function resolveScratchpad(
  { threadId, supervisorAgentId, workerAgentIds }: Asked,
  researchId: string,
  { command, tenant }: OperationContext,
  models: Models,
): Promise<string | Refusal<'not_found' | 'conflict' | 'precondition_failed'>> {
  const { aggregates, scratchpads } = tenant;
  if ((await aggregates.load(thread, threadId)).status !== 'open') return refuse('not_found');
  for (const agentId of new Set([supervisorAgentId, ...workerAgentIds])) {
    const refusal = await checkAgent(agentId, tenant, models);
    if (refusal) return refusal;
  }
  const begun = await aggregates.execute(thread, threadId, (state) =>
    beginResearch(state, researchId, command.newId('scratchpad')),
  );
  if (isRefusal(begun)) return begun;
  const scratchpadId = begun.state.status === 'open' ? begun.state.scratchpadId : null;
  if (scratchpadId === null) return refuse('not_found');
  const pad = await scratchpads.provision({ scratchpadId, threadId });
  return isRefusal(pad) ? pad : scratchpadId;
}

const sentences: Readonly<Record<CannotRun, string>> = {
  harness_not_runnable: 'Agents of this harness are enrolled here, and run elsewhere.',
  provider_not_configured: 'This server has no address of the provider of this agent (PALIMPSEST_MODEL_URLS).',
  credential_missing: 'You keep no credential for the provider of this agent.',
};

async function checkAgent(
  agentId: string,
  { id: ownerId, aggregates, events }: Tenant,
  models: Models,
): Promise<Refusal<'not_found' | 'precondition_failed'> | undefined> {
  if (!isUuid(agentId) || !isLive(await aggregates.load(agent, agentId), ownerId)) return refuse('not_found');
  const enrolled = await events.at(`${agent.category}-${agentId}`, 0);
  const reason = await models.unavailableReason(agentEvents['agent.enrolled'].parse(enrolled?.data));
  return reason && refuse('precondition_failed', sentences[reason], { reason, facts: { agentId } });
}
