import { randomUUID } from 'node:crypto';
import { isRefusal } from '../../domain/kernel/refusal.js';
import { researchEvents, type Failure } from '../../domain/research/events.js';
import { claim, complete, fail, isHeld, isOpen, research } from '../../domain/research/research.js';
import type { GatewayNeeds } from '../gateway/gateway.js';
import { toConclusion, RunEnded } from '../agents/outcome.js';
import { endWith, reasonToEnd } from './parent-ended.js';
import { claimedRun, streamsFor, type ClaimedRun } from './claimed-run.js';
import { supervise } from '../agents/agent-session.js';
import { truncate } from '../agents/truncate.js';

/** Brings a run to its end, or as far as `stopped` lets it. Throws when another attempt is needed. */
export type ResearchRuntime = (researchId: string, stopped: AbortSignal) => Promise<void>;

/**
 * Works on runs of research: claims one, has its supervisor and workers talk, and ends it with exactly one result for each
 * call and one for the run. All it knows is in the run's stream, so any process can go on where another died; the one that
 * was replaced meets that at its next append.
 */
export const makeResearchRuntime =
  (needs: GatewayNeeds): ResearchRuntime =>
  async (researchId, stopped) => {
    const claimed = await claimRun(needs, researchId);
    if (!claimed) return;
    const ending = new AbortController();
    const held = claimedRun(needs, claimed.run, ending.signal);
    const watch = watchOver(needs, held, claimed.position, ending, stopped);
    try {
      await workOn(needs, held, claimed.question);
    } finally {
      await watch.stop();
    }
  };

async function workOn(needs: GatewayNeeds, held: ClaimedRun, question: string): Promise<void> {
  const { shared } = needs;
  const { id: researchId, attempt } = held.run;
  try {
    const ended = await toConclusion(() => supervise(needs, held, question));
    // Agents fail too when what the run belongs to is taken away, and whoever takes it may not have come to the run yet.
    const reason = 'failure' in ended ? await reasonToEnd(held.run, held.streams('end')) : undefined;
    if (reason) {
      await endWith(researchId, reason, held.streams('end'));
      return told(needs, held, { failure: 'cancelled' });
    }
    await held.decide('end', (state, attempt) =>
      'answer' in ended ? complete(state, attempt, truncate(ended.answer)) : fail(state, attempt, ended.failure),
    );
    told(needs, held, 'answer' in ended ? { failure: undefined } : ended);
  } catch (fault) {
    if (!(fault instanceof RunEnded)) throw fault;
    if (fault.why === 'stopped') throw fault;
    if (fault.why === 'taken') return shared.log.info({ researchId, attempt }, 'research went on without this process');
    await held
      .decide('end', (state, attempt) => fail(state, attempt, 'deadline_exceeded'))
      .catch((late: unknown) => {
        if (!(late instanceof RunEnded)) throw late;
      });
    told(needs, held, { failure: 'deadline_exceeded' });
  }
}

function told(
  { shared, metrics }: GatewayNeeds,
  { run: { id: researchId, attempt } }: ClaimedRun,
  end: { readonly failure: Failure | undefined; readonly status?: number },
): void {
  metrics.count('palimpsest_research_ended_total', { outcome: end.failure ?? 'completed' });
  shared.log.info({ researchId, attempt, ...end }, 'research ended');
}

/** Claims an open run; undefined when there is none, when somebody else was first, and when the claim found it at its end. */
async function claimRun(needs: GatewayNeeds, researchId: string) {
  const [first] = await needs.store.events(`${research.category}-${researchId}`, 0, 1);
  if (first?.type !== 'research.started') return undefined;
  const { ownerId, actor, $correlationId: correlationId } = first.metadata;
  // Each claim is an event of its own, also by a process that claimed before.
  const streams = streamsFor(needs, { ownerId, correlationId, commandId: randomUUID() });
  const before = await streams.load(research, researchId);
  if (!isOpen(before)) return undefined;
  const reason = await reasonToEnd(before, streams);
  if (reason) {
    await endWith(researchId, reason, streams);
    return undefined;
  }
  const claimed = await streams.execute(research, researchId, (state, at) => claim(state, before.attempt, at));
  if (isRefusal(claimed) || !isHeld(claimed.state, before.attempt + 1)) return undefined;
  const { question } = researchEvents['research.started'].parse(first.data);
  return { run: { ...claimed.state, correlationId, askedBy: actor.agentId }, question, position: claimed.position };
}

/** Ends the run's signal with its deadline, when it is taken away or ended by somebody else, and when the process stops. */
function watchOver(
  { shared, clock, store }: GatewayNeeds,
  { run }: ClaimedRun,
  position: bigint | undefined,
  ending: AbortController,
  stopped: AbortSignal,
) {
  const over = new AbortController();
  const end = (why: RunEnded['why']) => ending.abort(new RunEnded(why));
  const late = setTimeout(() => end('deadline'), Math.max(0, Date.parse(run.deadlineAt) - clock.now().getTime()));
  const stop = () => end('stopped');
  stopped.addEventListener('abort', stop);
  if (stopped.aborted) stop();

  const following = (async () => {
    const wanted = { ownerId: run.ownerId, streams: [`${research.category}-${run.id}`], after: position ?? 0n };
    for await (const _ of shared.live.follow(wanted, over.signal)) {
      if (!isHeld((await store.load(research, run.id)).state, run.attempt)) end('taken');
    }
    // Without it the run's next step finds out: it looks at the stream itself.
  })().catch(() => undefined);

  return {
    async stop() {
      clearTimeout(late);
      stopped.removeEventListener('abort', stop);
      over.abort();
      await following;
    },
  };
}
