import type { Decision } from '../../domain/kernel/decision.js';
import { isRefusal, type Refusal } from '../../domain/kernel/refusal.js';
import type { PadRole } from '../../domain/kernel/roles.js';
import type { ResearchEvent } from '../../domain/research/events.js';
import { isClaimedBy, research, type Research, type StartedResearch } from '../../domain/research/research.js';
import { create, remove, thread } from '../../domain/thread/thread.js';
import type { AgentWork } from '../agents/act-as-agent.js';
import { ConversationFailed } from '../agents/outcome.js';
import type { Aggregates } from '../event-sourcing/aggregates.js';
import { systemCommand } from '../event-sourcing/command.js';
import { derivedUuid } from '../kernel/ids.js';
import type { TenantLiveFeed } from '../tenancy/tenant-handles.js';
import type { ResearchNeeds } from './needs.js';

/**
 * A run is over for this process: its deadline passed, another process claimed or ended it, or this process stops. It is the
 * reason of the run's signal, and every step under way ends with it.
 */
export class RunEnded extends Error {
  constructor(readonly why: 'deadline' | 'taken' | 'stopped') {
    super(`The run is over here: ${why}.`);
  }
}

export type RunFacts = StartedResearch & {
  readonly correlationId: string;
  /** The agent that started the run, if one did. */
  readonly askedBy: string | undefined;
};

/** A run that this process has claimed. Invariant: once another process has claimed it, no step of this one is stored. */
export interface ClaimedRun {
  readonly run: RunFacts;
  /** What the run's agents know of it. */
  readonly work: AgentWork;
  readonly live: Pick<TenantLiveFeed, 'follow'>;
  /** The owner's aggregates for one step of the run: each step stores under ids of its own. */
  aggregates(step: string): Aggregates;
  /** Decides at the run's revision. Fails when: the claim is lost → RunEnded. */
  decide(step: string, decision: RunDecision): Promise<Refusal | undefined>;
}

type RunDecision = (state: Research, attempt: number) => Decision<ResearchEvent, 'conflict' | 'precondition_failed'>;

export function claimedRun(needs: ResearchNeeds, run: RunFacts, signal: AbortSignal): ClaimedRun {
  const { id, ownerId, workspaceId, keyId, scratchpadId, correlationId, attempt } = run;
  const names = ['research', id, String(attempt)];
  const tenantFor = (step: string) => {
    const command = systemCommand({ id: derivedUuid(...names, step), correlationId, clock: needs.clock });
    return needs.tenants.of(ownerId, command);
  };
  const { aggregates, events, live } = tenantFor('look');
  const assertClaimed = async () => {
    signal.throwIfAborted();
    if (!isClaimedBy(await aggregates.load(research, id), attempt)) throw new RunEnded('taken');
  };
  const { maxTurns } = run.limits;
  const owner = { ownerId, workspaceId, keyId, scratchpadId, correlationId };
  return {
    run,
    work: { ...owner, door: 'research', names, maxTurns, signal, aggregates, events, assertClaimed },
    live,
    aggregates: (step) => tenantFor(step).aggregates,

    async decide(step, decision) {
      const decided = await tenantFor(step).aggregates.execute(research, id, (state) => decision(state, attempt));
      if (!isRefusal(decided)) return undefined;
      if (decided.refused === 'conflict' || decided.refused === 'not_found') throw new RunEnded('taken');
      return decided;
    },
  };
}

/**
 * Opens the thread of one of the run's agents.
 * Fails when: the thread was deleted → ConversationFailed; the claim was lost meanwhile → the thread is deleted, RunEnded.
 */
export async function openAgentThread(
  claimed: ClaimedRun,
  { threadId, role, name }: { readonly threadId: string; readonly role: PadRole; readonly name: string },
): Promise<void> {
  const { id: researchId, ownerId, attempt } = claimed.run;
  const data = { threadId, ownerId, title: `Research: ${role}`, metadata: { researchId } };
  const aggregates = claimed.aggregates(`thread of ${name}`);
  const opened = await aggregates.execute(thread, threadId, (state) =>
    state.status === 'open' ? [] : create(state, data),
  );
  if (isRefusal(opened)) throw new ConversationFailed('conversation_lost');
  if (isClaimedBy(await aggregates.load(research, researchId), attempt)) return;
  await claimed.aggregates(`no thread of ${name}`).execute(thread, threadId, remove);
  throw new RunEnded('taken');
}
