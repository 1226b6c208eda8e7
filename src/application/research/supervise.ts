import { runSession } from '../agents/agent-session.js';
import { openAgentThread, type ClaimedRun } from './claimed-run.js';
import { delegateTool } from './delegate.js';
import type { ResearchNeeds } from './needs.js';

/** Runs the supervisor's conversation to its answer. Fails as `runSession` does. */
export function supervise(needs: ResearchNeeds, claimed: ClaimedRun, question: string): Promise<string> {
  const { supervisorAgentId: agentId, supervisorThreadId: threadId, workerAgentIds, attempt, askedBy } = claimed.run;
  const workers = workerAgentIds.length;
  const names = { threadId, role: 'supervisor', name: 'supervisor' } as const;
  const spec = {
    ...names,
    agentId,
    workers,
    duty: dutyOf(workers),
    askedBy,
    moreTools: workers > 0 ? [delegateTool(needs, claimed)] : [],
    openThread: () => openAgentThread(claimed, names),
  };
  return runSession(needs, claimed.work, spec, attempt === 1 ? question : `${question}\n\n${laterAttempt}`);
}

const laterAttempt = 'An earlier attempt at this ended before its time. What it noted is in the scratchpad.';

const dutyOf = (workers: number): string =>
  workers === 0
    ? 'You research a question alone. Keep your plan in the scratchpad with update_scratchpad, and what you find with append_scratchpad. When you know enough, answer without using a tool: that answer is the result.'
    : `You lead a research with ${workers} workers. You share one scratchpad with them: keep your plan in it with update_scratchpad, hand tasks out with delegate, read with read_scratchpad what was noted. When you know enough, answer without using a tool: that answer is the result.`;
