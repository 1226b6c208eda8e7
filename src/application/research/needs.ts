import type { AgentNeeds } from '../agents/act-as-agent.js';
import type { Aggregates } from '../event-sourcing/aggregates.js';
import type { EventSourcing } from '../event-sourcing/append.js';
import type { DecodedEvent } from '../event-sourcing/codec.js';
import { systemCommand } from '../event-sourcing/command.js';
import type { EventReader } from '../event-sourcing/event-reader.js';
import type { LiveFeed } from '../event-sourcing/live-feed/live-feed.js';
import { OwnerStreams } from '../event-sourcing/owner-streams.js';
import type { Clock } from '../ports/clock.js';
import type { Logger, Metrics } from '../ports/telemetry.js';

/** What runs of research need of the process. */
export interface ResearchNeeds extends AgentNeeds {
  /** One owner's streams, as the system writes to them under a command's id. */
  streamsOf(step: RunStep): RunStreams;
  /** The first event of a stream of any owner. */
  firstEvent(stream: string): Promise<DecodedEvent | undefined>;
  readonly live: Pick<LiveFeed, 'follow'>;
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
  readonly events: Pick<EventReader, 'at'>;
}

/** Makes the needs of research on the parts of the process. */
export const researchNeeds = ({
  eventSourcing,
  ...needs
}: AgentNeeds & Pick<ResearchNeeds, 'live' | 'logger'> & { readonly eventSourcing: EventSourcing }): ResearchNeeds => ({
  ...needs,
  streamsOf: ({ ownerId, correlationId, commandId: id }) =>
    new OwnerStreams(eventSourcing, ownerId, systemCommand({ id, correlationId, clock: eventSourcing.clock })),
  firstEvent: async (stream) => (await eventSourcing.store.events(stream, 0, 1))[0],
  clock: eventSourcing.clock,
  metrics: eventSourcing.metrics,
});
