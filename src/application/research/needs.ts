import type { AgentNeeds } from '../agents/act-as-agent.js';
import type { DecodedEvent } from '../event-sourcing/codec.js';
import type { LiveFeed } from '../event-sourcing/live-feed/feed.js';
import { makeStreams, type Streams } from '../event-sourcing/aggregates.js';
import { makeGateway, type GatewayNeeds } from '../gateway/gateway.js';
import type { Clock } from '../ports/clock.js';
import type { Logger, Metrics } from '../ports/telemetry.js';

/** What runs of research need of the process. */
export interface ResearchNeeds extends AgentNeeds {
  /** One owner's streams, as the system writes to them under a command's id. */
  streamsOf(step: RunStep): RunStreams;
  /** The first event of a stream of any owner. */
  firstEvent(stream: string): Promise<DecodedEvent | undefined>;
  readonly live: LiveFeed;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** On whose behalf a step of a run is stored, and under which id. */
export interface RunStep {
  readonly ownerId: string;
  readonly correlationId: string;
  readonly commandId: string;
}

export interface RunStreams {
  readonly aggregates: Aggregates;
  readonly events: { at(stream: string, revision: number): Promise<DecodedEvent | undefined> };
}
export type Aggregates = Pick<Streams, 'execute' | 'load'>;

/** The needs of research, out of what the gateway is made from. */
export const researchNeeds = (needs: GatewayNeeds): ResearchNeeds => ({
  gatewayFor: (authenticate) => makeGateway({ ...needs, authenticate }),
  models: needs.shared.models,
  streamsOf(step) {
    const streams = makeStreams(needs, { ...step, actor: { type: 'system', id: 'palimpsest' } });
    return { aggregates: streams, events: { at: (stream, revision) => streams.eventAt(stream, revision) } };
  },
  firstEvent: async (stream) => (await needs.store.events(stream, 0, 1))[0],
  live: needs.shared.live,
  clock: needs.clock,
  metrics: needs.metrics,
  logger: needs.shared.log,
});
