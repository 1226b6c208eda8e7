import type { Authenticate } from '../application/access/authenticate.js';
import type { KeyMaker } from '../application/access/api-keys.js';
import type { AggregateStore } from '../application/event-sourcing/aggregate-store.js';
import type { EventSourcing } from '../application/event-sourcing/append.js';
import type { RunningLiveFeed } from '../application/event-sourcing/live-feed/live-feed.js';
import type { LogGuard } from '../application/event-sourcing/log-guard.js';
import type { GatewayNeeds } from '../application/gateway/gateway.js';
import type { Gateway } from '../application/gateway/request.js';
import type { Clock } from '../application/ports/clock.js';
import type { CredentialVault } from '../application/ports/credential-vault.js';
import type { EventStore } from '../application/ports/event-store.js';
import type { HarnessRegistry } from '../application/ports/harnesses.js';
import type { Models } from '../application/ports/models.js';
import type { PersonalDataKeys } from '../application/ports/personal-data-keys.js';
import type { ProjectionControl } from '../application/ports/projection-control.js';
import type { ReadDbs } from '../application/ports/read-models.js';
import type { Snapshots } from '../application/ports/snapshots.js';
import type { MaintenanceNeeds } from '../application/scratchpad/maintenance/needs.js';
import type { Tenants } from '../application/tenancy/tenants.js';
import type { Purges } from '../infrastructure/bullmq/purges.js';
import type { RunningResearchQueue } from '../infrastructure/bullmq/research.js';
import type { Config } from '../infrastructure/config.js';
import type { CrashPoints } from '../infrastructure/crash-points.js';
import type { OpenedEventStore } from '../infrastructure/eventstore/event-store.js';
import type { makeLogger } from '../infrastructure/logger.js';
import type { makeMetrics } from '../infrastructure/metrics.js';
import type { Database } from '../infrastructure/postgres/database.js';
import type { WrittenKeyUsage } from '../infrastructure/postgres/key-usage.js';
import type { PostgresWatermark } from '../infrastructure/postgres/watermark.js';
import type { RedisScratchpadStore } from '../infrastructure/redis/scratchpad-store/scratchpad-store.js';
import type { KekRing } from '../infrastructure/vault/kek-ring.js';
import type { Kms } from '../infrastructure/vault/kms.js';
import { token } from './bind.js';

/** Where the backends are and what opens them; embedded or not is decided before. */
export interface Backends {
  readonly eventstoreUrl: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly keks: KekRing;
}

/** Answers when its backend does; one for each, by the name that `/readyz` shows. */
export type Checks = Readonly<Record<'eventstore' | 'postgres' | 'redis', () => Promise<void>>>;

/** The database as this version needs it, and what every derived key derives from. */
export interface Prepared {
  readonly database: Database;
  readonly rootKey: Buffer;
}

export interface Running {
  close(): Promise<void>;
}

/** The guard of the event log, which compares for as long as the process runs. */
export interface WatchedLog extends Running {
  readonly guard: LogGuard;
}

export type ProcessLogger = ReturnType<typeof makeLogger>;
export type ProcessMetrics = ReturnType<typeof makeMetrics>;

/** Every service that can be asked for. */
export const T = {
  config: token<Config>('config'),
  backends: token<Backends>('backends'),
  logger: token<ProcessLogger>('logger'),
  metrics: token<ProcessMetrics>('metrics'),
  clock: token<Clock>('clock'),
  crashPoints: token<CrashPoints>('crashPoints'),
  kms: token<Kms>('kms'),
  prepared: token<Prepared>('prepared'),
  database: token<Database>('database'),
  rootKey: token<Buffer>('rootKey'),
  dbs: token<ReadDbs>('dbs'),
  watermark: token<PostgresWatermark>('watermark'),
  keyUsage: token<WrittenKeyUsage>('keyUsage'),
  personalDataKeys: token<PersonalDataKeys>('personalDataKeys'),
  snapshots: token<Snapshots>('snapshots'),
  openedEventStore: token<OpenedEventStore>('openedEventStore'),
  logGuard: token<WatchedLog>('logGuard'),
  eventStore: token<EventStore>('eventStore'),
  live: token<RunningLiveFeed>('live'),
  aggregateStore: token<AggregateStore>('aggregateStore'),
  eventSourcing: token<EventSourcing>('eventSourcing'),
  scratchpadStore: token<RedisScratchpadStore>('scratchpadStore'),
  maintenance: token<MaintenanceNeeds>('maintenance'),
  purges: token<Purges>('purges'),
  vault: token<CredentialVault>('vault'),
  harnesses: token<HarnessRegistry>('harnesses'),
  models: token<Models>('models'),
  tenants: token<Tenants>('tenants'),
  apiKeys: token<KeyMaker>('apiKeys'),
  authenticate: token<Authenticate>('authenticate'),
  projections: token<ProjectionControl>('projections'),
  gatewayNeeds: token<GatewayNeeds>('gatewayNeeds'),
  gateway: token<Gateway>('gateway'),
  checks: token<Checks>('checks'),
  researchQueue: token<RunningResearchQueue>('researchQueue'),
  projector: token<Running>('projector'),
  reactions: token<Running>('reactions'),
  purgeWorker: token<Running>('purgeWorker'),
  reaper: token<Running>('reaper'),
  ledgerAuditor: token<Running>('ledgerAuditor'),
  researchWorker: token<Running>('researchWorker'),
};
