import { randomUUID } from 'node:crypto';
import { isRefusal } from '../../domain/kernel/refusal.js';
import { researchEvents, type Failure } from '../../domain/research/events.js';
import { claim, complete, fail, isClaimedBy, isOpen, research } from '../../domain/research/research.js';
import { toConclusion, type Conclusion } from '../agents/outcome.js';
import { truncate } from '../agents/truncate.js';
import { systemCommand } from '../event-sourcing/command.js';
import type { ResearchWork } from '../ports/work-queues.js';
import { claimedRun, RunEnded, type ClaimedRun } from './claimed-run.js';
import type { ResearchNeeds } from './needs.js';
import { endWith, reasonToEnd } from './parent-ended.js';
import { supervise } from './supervise.js';

/**
 * Works on runs of research: claims one, runs the conversations of its agents, ends it.
 * Invariant: exactly one result for each call and one end of the run. Why: everything that a run knows is in its stream, so
 * any process continues where another died, and a process that was replaced fails at its next append
 * (docs/flows.md#research-run).
 */
export const makeResearchWork =
  (needs: ResearchNeeds): ResearchWork =>
  async (researchId, stopping) => {
    const found = await claimRun(needs, researchId);
    if (!found) return 'done';
    const ending = new AbortController();
    const claimed = claimedRun(needs, found.run, ending.signal);
    const watch = watchRun(needs, claimed, found.position, ending, stopping);
    try {
      return await workOn(needs, claimed, found.question);
    } finally {
      await watch.stop();
    }
  };

async function workOn(needs: ResearchNeeds, claimed: ClaimedRun, question: string): Promise<'done' | 'stopped'> {
  try {
    await end(needs, claimed, await toConclusion(() => supervise(needs, claimed, question)));
  } catch (fault) {
    if (!(fault instanceof RunEnded)) throw fault;
    if (fault.why === 'stopped') return 'stopped';
    if (fault.why === 'deadline') await endByDeadline(needs, claimed);
    const { id: researchId, attempt } = claimed.run;
    if (fault.why === 'taken') needs.logger.info({ researchId, attempt }, 'research went on without this process');
  }
  return 'done';
}

/** Ends the run with what its supervisor came to. */
async function end(needs: ResearchNeeds, claimed: ClaimedRun, concluded: Conclusion): Promise<void> {
  const aggregates = claimed.aggregates('end');
  // Agents also fail when a parent of the run is gone, and the reaction that cancels the run may come later.
  const reason = 'failure' in concluded ? await reasonToEnd(claimed.run, aggregates) : undefined;
  if (reason) {
    await endWith(claimed.run.id, reason, aggregates);
    return report(needs, claimed, { failure: 'cancelled' });
  }
  await claimed.decide('end', (state, attempt) =>
    'answer' in concluded
      ? complete(state, attempt, truncate(concluded.answer))
      : fail(state, attempt, concluded.failure),
  );
  report(needs, claimed, 'answer' in concluded ? { failure: undefined } : concluded);
}

async function endByDeadline(needs: ResearchNeeds, claimed: ClaimedRun): Promise<void> {
  try {
    await claimed.decide('end', (state, attempt) => fail(state, attempt, 'deadline_exceeded'));
  } catch (fault) {
    if (!(fault instanceof RunEnded)) throw fault; // Another process ended it first.
  }
  report(needs, claimed, { failure: 'deadline_exceeded' });
}

function report(
  { logger, metrics }: ResearchNeeds,
  { run: { id: researchId, attempt } }: ClaimedRun,
  ended: { readonly failure: Failure | undefined; readonly status?: number },
): void {
  metrics.count('palimpsest_research_ended_total', { outcome: ended.failure ?? 'completed' });
  logger.info({ researchId, attempt, ...ended }, 'research ended');
}

/** Claims an open run. Undefined: there is none, another process was first, or the claim found it at its end. */
async function claimRun(needs: ResearchNeeds, researchId: string) {
  const [first] = await needs.store.events(`${research.category}-${researchId}`, 0, 1);
  if (first?.type !== 'research.started') return undefined;
  const { ownerId, actor, $correlationId: correlationId } = first.metadata;
  // A random id: each claim is an event of its own, also by a process that claimed before.
  const command = systemCommand({ id: randomUUID(), correlationId, clock: needs.clock });
  const { aggregates } = needs.tenants.of(ownerId, command);
  const before = await aggregates.load(research, researchId);
  if (!isOpen(before)) return undefined;
  const reason = await reasonToEnd(before, aggregates);
  if (reason) {
    await endWith(researchId, reason, aggregates);
    return undefined;
  }
  const claimed = await aggregates.execute(research, researchId, (state, at) => claim(state, before.attempt, at));
  if (isRefusal(claimed) || !isClaimedBy(claimed.state, before.attempt + 1)) return undefined;
  const { question } = researchEvents['research.started'].parse(first.data);
  return { run: { ...claimed.state, correlationId, askedBy: actor.agentId }, question, position: claimed.position };
}

/** Aborts the run's signal at its deadline, when another process claims or ends it, and when this process stops. */
function watchRun(
  { clock }: ResearchNeeds,
  { run, work, live }: ClaimedRun,
  position: bigint | undefined,
  ending: AbortController,
  stopping: AbortSignal,
) {
  const over = new AbortController();
  const endWork = (why: RunEnded['why']) => ending.abort(new RunEnded(why));
  const late = setTimeout(() => endWork('deadline'), Math.max(0, Date.parse(run.deadlineAt) - clock.now().getTime()));
  const stop = () => endWork('stopped');
  stopping.addEventListener('abort', stop);
  if (stopping.aborted) stop();

  const following = (async () => {
    const selection = { streams: [`${research.category}-${run.id}`], after: position ?? 0n };
    for await (const _ of live.follow(selection, over.signal)) {
      if (!isClaimedBy(await work.aggregates.load(research, run.id), run.attempt)) endWork('taken');
    }
    // Without the live feed the run's next step finds out: it reads the stream itself.
  })().catch(() => undefined);

  return {
    async stop() {
      clearTimeout(late);
      stopping.removeEventListener('abort', stop);
      over.abort();
      await following;
    },
  };
}
