import { z } from 'zod';
import { isRefusal, type Refusal } from '../../domain/kernel/refusal.js';
import { delegate, finishCall } from '../../domain/research/research.js';
import { runSession, type SessionSpec } from '../agents/agent-session.js';
import type { Tool, ToolAnswer } from '../agents/conversation.js';
import { toConclusion, type Conclusion } from '../agents/outcome.js';
import { jsonSchema } from '../operation/json-schema.js';
import { derivedId } from '../kernel/ids.js';
import { textOfBytes } from '../kernel/schemas.js';
import { checkAt } from '../kernel/validation.js';
import { openAgentThread, type ClaimedRun } from './claimed-run.js';
import type { ResearchNeeds } from './needs.js';

const taskInput = z.strictObject({
  task: textOfBytes(32 * 1024)
    .min(1)
    .meta({
      description: 'All that the worker has to know: it sees the scratchpad, and nothing of this conversation.',
    }),
});

/** One delegated task: its id, its worker, the worker's own thread. */
interface Call {
  readonly callId: string;
  readonly agentId: string;
  readonly threadId: string;
}

/**
 * The tool that hands a task to the next worker.
 * Invariant: a call has exactly one result, which is stored before the supervisor sees it.
 */
export function delegateTool(needs: ResearchNeeds, claimed: ClaimedRun): Tool {
  const { run } = claimed;
  let next = Object.keys(run.calls).length;
  return {
    name: 'delegate',
    description: 'Have a worker do a task and wait for its answer. Calls of one turn run at the same time.',
    inputSchema: jsonSchema(taskInput, 'input'),
    concurrent: true,
    async use(input, step) {
      const parsed = checkAt('', taskInput, input);
      if (isRefusal(parsed)) return failed(parsed, `task ${parsed.issues?.[0]?.rule ?? ''}`);
      const agentId = run.workerAgentIds[next++ % run.workerAgentIds.length] ?? run.supervisorAgentId;
      const callId = derivedId('call', run.id, String(run.attempt), step);
      const call = { callId, agentId, threadId: derivedId('thread', run.id, callId) };
      const refusal = await claimed.decide(`delegate ${callId}`, (state, attempt) => delegate(state, attempt, call));
      if (refusal) return failed(refusal, refusal.message);
      return resultOf(await runCall(needs, claimed, call, taskInput.parse(parsed.input).task));
    },
  };
}

/** Runs the worker's conversation and stores the result of its call. */
async function runCall(needs: ResearchNeeds, claimed: ClaimedRun, call: Call, task: string): Promise<Conclusion> {
  const { callId } = call;
  const concluded = await toConclusion(() => runSession(needs, claimed.work, workerSpec(claimed, call), task));
  const failure = 'failure' in concluded ? concluded.failure : undefined;
  await claimed.decide(`finish ${callId}`, (state, attempt) => finishCall(state, attempt, callId, failure));
  needs.metrics.count('palimpsest_research_calls_total', { outcome: failure ?? 'succeeded' });
  if ('failure' in concluded)
    needs.logger.info({ researchId: claimed.run.id, callId, ...concluded }, 'a delegated call failed');
  return concluded;
}

function workerSpec(claimed: ClaimedRun, { callId, agentId, threadId }: Call): SessionSpec {
  const { supervisorAgentId: askedBy, workerAgentIds } = claimed.run;
  const names = { threadId, role: 'worker', name: callId } as const;
  const openThread = () => openAgentThread(claimed, names);
  return { ...names, agentId, workers: workerAgentIds.length, duty, askedBy, moreTools: [], openThread };
}

const failed = ({ refused }: Refusal, why: string): ToolAnswer => ({ text: `error: ${refused}: ${why}` });

function resultOf(concluded: Conclusion): ToolAnswer {
  if ('failure' in concluded) return { text: JSON.stringify({ outcome: 'failed', failure: concluded.failure }) };
  return { text: JSON.stringify({ outcome: 'succeeded', answer: concluded.answer }) };
}

const duty =
  'You work on one task of a research. Note what you find with append_scratchpad, for everyone in it; read_scratchpad shows what others noted. When you are done, answer without using a tool: that answer goes to your supervisor.';
