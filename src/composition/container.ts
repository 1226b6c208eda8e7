import 'reflect-metadata';
import { Container, type ServiceIdentifier } from 'inversify';
import type { ClientBase } from 'pg';
import { projections } from '../../projections/index.js';
import { sql } from '../../projections/kit/sql.js';
import { makeAuthenticate, type Authenticate } from '../application/access/authenticate.js';
import { KeyedMutex } from '../application/kernel/concurrency/keyed-mutex.js';
import { purposeKey } from '../application/kernel/installation-keys.js';
import type { Gateway } from '../application/gateway/request.js';
import type { ProjectionControl } from '../application/ports/projection-control.js';
import { makeGateway, type GatewayNeeds } from '../application/gateway/gateway.js';
import { FactRecorder } from '../application/event-sourcing/fact-recorder.js';
import { makeKeyMaker } from '../application/access/api-keys.js';
import { AggregateStore } from '../application/event-sourcing/aggregate-store.js';
import type { Clock } from '../application/ports/clock.js';
import type { ReadDbs } from '../application/ports/read-models.js';
import type { Snapshots } from '../application/ports/snapshots.js';
import type { PersonalDataKeys } from '../application/ports/personal-data-keys.js';
import { enrollmentReaction } from '../application/reactions/enrollments.js';
import { researchReaction } from '../application/reactions/research.js';
import { scratchpadReaction } from '../application/reactions/scratchpads.js';
import { reapStaged } from '../application/enrollment/reaper.js';
import { usableCredentials } from '../application/enrollment/staged-versions.js';
import type { HarnessRegistry } from '../application/ports/harnesses.js';
import type { Models } from '../application/ports/models.js';
import type { CredentialVault } from '../application/ports/credential-vault.js';
import { recordPurged } from '../application/scratchpad/maintenance/record-purge.js';
import { enqueueOpen } from '../application/research/requeue.js';
import { makeResearchRuntime } from '../application/research/run.js';
import { systemWorkFor, type SystemNeeds } from '../application/tenancy/tenants.js';
import { openResearchQueue, type RunningResearchQueue } from '../infrastructure/bullmq/research.js';
import { openPurges } from '../infrastructure/bullmq/purges.js';
import type { Config } from '../infrastructure/config.js';
import { makeCrashPoints } from '../infrastructure/crash-points.js';
import { StartupError } from '../infrastructure/startup-error.js';
import { openEventStore } from '../infrastructure/eventstore/event-store.js';
import { HarnessFileUnreadable, makeHarnessRegistry } from '../infrastructure/harness-file.js';
import { makeLiveFeed, type RunningLiveFeed } from '../application/event-sourcing/live-feed/live-feed.js';
import { makeModels } from '../infrastructure/llm/models.js';
import { makeLogger } from '../infrastructure/logger.js';
import { makeMetrics } from '../infrastructure/metrics.js';
import { openDatabase, type Database } from '../infrastructure/postgres/database.js';
import { startKeyUsage, type WrittenKeyUsage } from '../infrastructure/postgres/key-usage.js';
import { migrate } from '../infrastructure/postgres/migrate.js';
import { makeReadDbs } from '../infrastructure/postgres/read-dbs.js';
import { followWatermark, type PostgresWatermark } from '../infrastructure/postgres/watermark.js';
import { makeSnapshots } from '../infrastructure/postgres/snapshots.js';
import { makePersonalDataKeys } from '../infrastructure/postgres/personal-data-keys.js';
import { makeProjectionControl } from '../infrastructure/projector/control.js';
import { startLedgerAuditor } from '../infrastructure/projector/ledger-auditor.js';
import { startReactions } from '../infrastructure/projector/reactions.js';
import { startProjector } from '../infrastructure/projector/projector.js';
import { assertKeysThere } from '../infrastructure/vault/assert-keys.js';
import type { KekRing } from '../infrastructure/vault/kek-ring.js';
import { makeKmsChain, type Kms } from '../infrastructure/vault/kms.js';
import { makeLocalKms } from '../infrastructure/vault/local-kms.js';
import { makePostgresVault } from '../infrastructure/vault/postgres-vault.js';
import { startReaper } from '../infrastructure/vault/reaper.js';
import { makeTransitKms } from '../infrastructure/vault/transit-kms.js';
import { ensureRootKey } from '../infrastructure/vault/root-key.js';
import { openScratchpadStore } from '../infrastructure/redis/scratchpad-store/scratchpad-store.js';

/** Answers when its backend does; one for each, by the name that `/readyz` shows. */
export type Checks = Readonly<Record<'eventstore' | 'postgres' | 'redis', () => Promise<void>>>;

/** Where the backends are and what opens them; embedded or not is decided before. */
export interface Backends {
  readonly eventstoreUrl: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly keks: KekRing;
}

type Log = ReturnType<typeof makeLogger>;
type Metrics = ReturnType<typeof makeMetrics>;
type EventLog = ReturnType<typeof openEventStore>;
type ScratchpadStore = ReturnType<typeof openScratchpadStore>;
type Purges = ReturnType<typeof openPurges>;

const token = <Service>(name: string): ServiceIdentifier<Service> => Symbol.for(name);

/** What can be asked for, by name. */
export const T = {
  config: token<Config>('config'),
  backends: token<Backends>('backends'),
  log: token<Log>('log'),
  metrics: token<Metrics>('metrics'),
  clock: token<Clock>('clock'),
  eventLog: token<EventLog>('eventLog'),
  live: token<RunningLiveFeed>('live'),
  kms: token<Kms>('kms'),
  prepared: token<Prepared>('prepared'),
  database: token<Database>('database'),
  rootKey: token<Buffer>('rootKey'),
  dbs: token<ReadDbs>('dbs'),
  subjects: token<PersonalDataKeys>('subjects'),
  snapshots: token<Snapshots>('snapshots'),
  store: token<AggregateStore>('store'),
  readModels: token<PostgresWatermark>('readModels'),
  keyUsage: token<WrittenKeyUsage>('keyUsage'),
  working: token<ScratchpadStore>('working'),
  system: token<SystemNeeds>('system'),
  purges: token<Purges>('purges'),
  projections: token<ProjectionControl>('projections'),
  authenticate: token<Authenticate>('authenticate'),
  gatewayNeeds: token<GatewayNeeds>('gatewayNeeds'),
  gateway: token<Gateway>('gateway'),
  checks: token<Checks>('checks'),
  projector: token<Running>('projector'),
  reactions: token<Running>('reactions'),
  purgeWorker: token<Running>('purgeWorker'),
  researchQueue: token<RunningResearchQueue>('researchQueue'),
  researchWorker: token<Running>('researchWorker'),
  vault: token<CredentialVault>('vault'),
  harnesses: token<HarnessRegistry>('harnesses'),
  models: token<Models>('models'),
  reaper: token<Running>('reaper'),
  ledgerAuditor: token<Running>('ledgerAuditor'),
};

/** The database as this version needs it, and what every derived key derives from. */
interface Prepared {
  readonly database: Database;
  readonly rootKey: Buffer;
}

interface Running {
  close(): Promise<void>;
}

/** Wires everything. What was opened is closed by `close`, last opened first, so that nothing loses what it stands on. */
export function makeContainer(config: Config, backends: Backends, log: Log, metrics: Metrics = makeMetrics()) {
  const container = new Container({ defaultScope: 'Singleton' });
  const opened: Running[] = [];
  const closing = <Service extends Running>(service: Service): Service => {
    opened.push(service);
    return service;
  };
  const crashPoints = makeCrashPoints(config.crashAt);

  container.bind(T.config).toConstantValue(config);
  container.bind(T.backends).toConstantValue(backends);
  container.bind(T.log).toConstantValue(log);
  container.bind(T.clock).toConstantValue({ now: () => new Date() });
  container.bind(T.metrics).toConstantValue(metrics);
  container
    .bind(T.eventLog)
    .toResolvedValue(
      ({ eventstoreUrl }: Backends, l: Log) =>
        crashPoints.around('events', closing(openEventStore(eventstoreUrl, l)), eventLogReads, typeOfAppended),
      [T.backends, T.log],
    );
  container.bind(T.live).toResolvedValue((events: EventLog) => closing(makeLiveFeed(events)), [T.eventLog]);
  container.bind(T.kms).toResolvedValue(
    ({ kms }: Config, { keks }: Backends) => {
      const local = makeLocalKms(keks);
      return kms ? makeKmsChain(makeTransitKms(kms), local) : local;
    },
    [T.config, T.backends],
  );
  container.bind(T.prepared).toResolvedValue(
    async ({ databaseUrl: url, keks }: Backends, kms: Kms, l: Log): Promise<Prepared> => {
      let rootKey: Buffer = Buffer.alloc(0);
      const kek = async (client: ClientBase) => {
        return (rootKey = await ensureRootKey((text, values) => client.query(text, [...values]), kms));
      };
      await migrate({ url, kek, projections, log: l });
      const database = closing(openDatabase({ url, kek: rootKey, log: l }));
      await assertKeysThere(database.system, keks, kms);
      return { database, rootKey };
    },
    [T.backends, T.kms, T.log],
  );
  container.bind(T.database).toResolvedValue(({ database }: Prepared) => database, [T.prepared]);
  container.bind(T.rootKey).toResolvedValue(({ rootKey }: Prepared) => rootKey, [T.prepared]);
  container.bind(T.dbs).toResolvedValue(makeReadDbs, [T.database]);
  container
    .bind(T.subjects)
    .toResolvedValue(
      ({ system }: Database, { keks }: Backends) =>
        crashPoints.around('subjects', makePersonalDataKeys(system, keks), ['sealingKey', 'openingKeys']),
      [T.database, T.backends],
    );
  container.bind(T.snapshots).toResolvedValue(({ system }: Database) => makeSnapshots(system), [T.database]);
  container
    .bind(T.vault)
    .toResolvedValue(
      ({ system }: Database, kms: Kms) => crashPoints.around('vault', makePostgresVault(system, kms), vaultReads),
      [T.database, T.kms],
    );
  container.bind(T.harnesses).toResolvedValue(
    async ({ harnessFile }: Config) => {
      const registry = makeHarnessRegistry(harnessFile);
      await registry.list().catch((fault: unknown) => {
        throw fault instanceof HarnessFileUnreadable
          ? new StartupError(`PALIMPSEST_HARNESSES: ${fault.message}`)
          : fault;
      });
      return registry;
    },
    [T.config],
  );
  container
    .bind(T.models)
    .toResolvedValue(
      (system: SystemNeeds, { modelEndpoints }: Config) => makeModels(usableCredentials(system), modelEndpoints),
      [T.system, T.config],
    );
  container
    .bind(T.reaper)
    .toResolvedValue(
      (system: SystemNeeds, l: Log) => closing(startReaper(() => reapStaged(system), l)),
      [T.system, T.log],
    );
  container
    .bind(T.store)
    .toResolvedValue(
      (events: EventLog, subjects: PersonalDataKeys, snapshots: Snapshots) =>
        new AggregateStore(events, subjects, snapshots),
      [T.eventLog, T.subjects, T.snapshots],
    );
  container
    .bind(T.readModels)
    .toResolvedValue((database: Database) => closing(followWatermark(database, projections)), [T.database]);
  container
    .bind(T.keyUsage)
    .toResolvedValue(
      ({ system }: Database, clock: Clock, l: Log) => closing(startKeyUsage(system, clock, l)),
      [T.database, T.clock, T.log],
    );
  container.bind(T.working).toResolvedValue(
    async ({ redisUrl }: Backends, l: Log) => {
      const working = closing(openScratchpadStore(redisUrl));
      for (const warning of await working.assertDurable()) l.warn({ backend: 'redis' }, warning);
      return crashPoints.around('working', working, workingReads);
    },
    [T.backends, T.log],
  );
  container
    .bind(T.system)
    .toResolvedValue(
      (
        events: EventLog,
        store: AggregateStore,
        subjects: PersonalDataKeys,
        clock: Clock,
        metrics: Metrics,
        dbs: ReadDbs,
        readModels: PostgresWatermark,
        working: ScratchpadStore,
        vault: CredentialVault,
      ): SystemNeeds => ({
        log: events,
        store,
        subjects,
        clock,
        metrics,
        queues: new KeyedMutex(),
        gathered: new FactRecorder(events),
        dbs,
        readModels,
        working,
        vault,
      }),
      [T.eventLog, T.store, T.subjects, T.clock, T.metrics, T.dbs, T.readModels, T.working, T.vault],
    );
  container.bind(T.purges).toResolvedValue(
    ({ redisUrl }: Backends, system: SystemNeeds, l: Log) => {
      const purges = closing(
        openPurges({
          redisUrl,
          working: system.working,
          recordPurged: recordPurged(system),
          log: l,
          secondPassAfterMs,
        }),
      );
      return { ...purges, queue: crashPoints.around('purges', purges.queue, []) };
    },
    [T.backends, T.system, T.log],
  );
  container.bind(T.purgeWorker).toResolvedValue((purges: Purges) => closing(purges.startWorker()), [T.purges]);
  container
    .bind(T.authenticate)
    .toResolvedValue(
      (store: AggregateStore, rootKey: Buffer, clock: Clock, usage: WrittenKeyUsage) =>
        makeAuthenticate({ store, pepper: purposeKey(rootKey, 'api keys'), clock, usage }),
      [T.store, T.rootKey, T.clock, T.keyUsage],
    );
  container
    .bind(T.gatewayNeeds)
    .toResolvedValue(
      (
        system: SystemNeeds,
        rootKey: Buffer,
        authenticate: Authenticate,
        purges: Purges,
        control: ProjectionControl,
        harnesses: HarnessRegistry,
        models: Models,
        live: RunningLiveFeed,
        l: Log,
      ): GatewayNeeds => ({
        ...system,
        authenticate,
        admissions: [],
        cursorKey: purposeKey(rootKey, 'cursors'),
        shared: {
          working: system.working,
          live,
          purges: purges.queue,
          keys: makeKeyMaker(purposeKey(rootKey, 'api keys')),
          subjects: system.subjects,
          projections: control,
          vault: system.vault,
          harnesses,
          models,
          log: l,
        },
      }),
      [T.system, T.rootKey, T.authenticate, T.purges, T.projections, T.harnesses, T.models, T.live, T.log],
    );
  container.bind(T.gateway).toResolvedValue(makeGateway, [T.gatewayNeeds]);
  container
    .bind(T.researchQueue)
    .toResolvedValue(
      ({ redisUrl }: Backends, l: Log) => closing(openResearchQueue({ redisUrl, log: l })),
      [T.backends, T.log],
    );
  container
    .bind(T.researchWorker)
    .toResolvedValue(
      (runs: RunningResearchQueue, needs: GatewayNeeds) =>
        closing(runs.startWorker(makeResearchRuntime(needs), () => enqueueOpen(needs.dbs, runs.queue))),
      [T.researchQueue, T.gatewayNeeds],
    );
  container.bind(T.projector).toResolvedValue(
    ({ databaseUrl: url }: Backends, { log: events, subjects, metrics }: SystemNeeds, l: Log) => {
      return closing(startProjector({ url, events, subjects, projections, metrics, log: l }));
    },
    [T.backends, T.system, T.log],
  );
  container.bind(T.reactions).toResolvedValue(
    ({ databaseUrl: url }: Backends, system: SystemNeeds, { queue }: Purges, runs: RunningResearchQueue, l: Log) => {
      const { log: events, subjects, metrics } = system;
      const reactions = [
        scratchpadReaction(systemWorkFor(system), queue),
        enrollmentReaction(systemWorkFor(system), system.vault),
        researchReaction(systemWorkFor(system), runs.queue),
      ];
      const saw = (position: bigint) => system.store.raiseWatermark(position);
      return closing(startReactions({ url, events, subjects, metrics, reactions, saw, log: l }));
    },
    [T.backends, T.system, T.purges, T.researchQueue, T.log],
  );
  container
    .bind(T.ledgerAuditor)
    .toResolvedValue(
      ({ databaseUrl: url }: Backends, system: SystemNeeds, { queue }: Purges, l: Log) =>
        closing(startLedgerAuditor({ url, system, purges: queue, log: l })),
      [T.backends, T.system, T.purges, T.log],
    );
  container
    .bind(T.projections)
    .toResolvedValue(
      ({ system }: Database, events: EventLog) => makeProjectionControl(system, events, projections),
      [T.database, T.eventLog],
    );
  container.bind(T.checks).toResolvedValue(
    (events: EventLog, { app }: Database, working: ScratchpadStore): Checks => ({
      eventstore: () => events.ping(),
      postgres: async () => {
        await app.run(sql`select 1`);
      },
      redis: () => working.ping(),
    }),
    [T.eventLog, T.database, T.working],
  );
  const close = async (): Promise<void> => {
    for (const service of opened.splice(0).reverse()) await service.close();
  };
  return { container, close };
}

// What leaves nothing behind, so that dying there shows nothing that dying at the effect before does not.
const eventLogReads: (keyof EventLog)[] = [
  'readStream',
  'lastEvent',
  'readAll',
  'headPosition',
  'subscribe',
  'ping',
  'close',
];
const workingReads: (keyof ScratchpadStore)[] = [
  ...(['entries', 'latest', 'content', 'exists', 'state', 'touched', 'scan', 'runId', 'ping', 'close'] as const),
  ...(['connection', 'isChecked', 'checked'] as const),
];
const vaultReads: (keyof CredentialVault)[] = ['has', 'staged', 'stagedLongerThan', 'find', 'open'];

const typeOfAppended = ([, , events]: readonly unknown[]): string | undefined =>
  Array.isArray(events) ? (events as Parameters<EventLog['append']>[2])[0]?.type : undefined;

/** Twice the longest an operation may take: then nothing that was begun before a deletion can still be under way. */
const secondPassAfterMs = 20_000;
