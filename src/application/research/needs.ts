import type { AgentNeeds } from '../agents/act-as-agent.js';
import type { AggregateStore } from '../event-sourcing/aggregate-store.js';
import type { Clock } from '../ports/clock.js';
import type { Logger, Metrics } from '../ports/telemetry.js';
import type { Tenants } from '../tenancy/tenants.js';

/** What runs of research need of the process. */
export interface ResearchNeeds extends AgentNeeds {
  readonly tenants: Tenants;
  /** Finds out whose run it is: the queue carries nothing but the id. */
  readonly store: Pick<AggregateStore, 'events'>;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly logger: Logger;
}
