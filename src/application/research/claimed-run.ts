import { isRefusal, type Refusal } from '../../domain/kernel/refusal.js';
import type { Decision } from '../../domain/kernel/decision.js';
import type { ResearchEvent } from '../../domain/research/events.js';
import { isHeld, research, type BegunResearch, type Research } from '../../domain/research/research.js';
import type { GatewayNeeds } from '../gateway/gateway.js';
import { derivedUuid } from '../kernel/ids.js';
import { makeStreams, type Streams } from '../event-sourcing/aggregates.js';
import { RunEnded } from '../agents/outcome.js';

/** A run that this process has claimed, until another does. */
export interface ClaimedRun {
  readonly run: BegunResearch & {
    readonly correlationId: string;
    /** The agent that asked, where it was one. */
    readonly askedBy: string | undefined;
  };
  readonly signal: AbortSignal;
  /** Streams for one step of the run: each step stores under names of its own. */
  streams(step: string): Streams;
  /** Decides at the run's revision. Throws RunEnded when the run is not held any more. */
  decide(
    step: string,
    decision: (state: Research, attempt: number) => Decision<ResearchEvent, 'conflict' | 'precondition_failed'>,
  ): Promise<Refusal | undefined>;
  /** Throws RunEnded when the run is not held any more. */
  assertClaimed(): Promise<void>;
}

export function claimedRun(needs: GatewayNeeds, run: ClaimedRun['run'], signal: AbortSignal): ClaimedRun {
  const { id, ownerId, attempt, correlationId } = run;
  const streams = (step: string): Streams =>
    streamsFor(needs, { ownerId, correlationId, commandId: stepId(id, attempt, step) });
  return {
    run,
    signal,
    streams,

    async decide(step, decision) {
      const decided = await streams(step).execute(research, id, (state) => decision(state, attempt));
      if (!isRefusal(decided)) return undefined;
      if (decided.refused === 'conflict' || decided.refused === 'not_found') throw new RunEnded('taken');
      return decided;
    },

    async assertClaimed() {
      signal.throwIfAborted();
      if (!isHeld(await streams('look').load(research, id), attempt)) throw new RunEnded('taken');
    },
  };
}

const stepId = (id: string, attempt: number, step: string) => derivedUuid('research', id, String(attempt), step);

/** The system's streams, on behalf of a run's owner. */
export const streamsFor = (
  needs: GatewayNeeds,
  context: { readonly ownerId: string; readonly correlationId: string; readonly commandId: string },
): Streams => makeStreams(needs, { ...context, actor: { type: 'system', id: 'palimpsest' } });
