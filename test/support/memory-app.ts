import { makeAuthenticate } from '../../src/application/access/authenticate.js';
import { Principals } from '../../src/application/access/principals.js';
import { administratorId, ensureAdministrator } from '../../src/application/access/administrator.js';
import { KeyedMutex } from '../../src/application/kernel/concurrency/keyed-mutex.js';
import type { Gateway, Reply, Request } from '../../src/application/gateway/request.js';
import type { ProjectionControl } from '../../src/application/ports/projection-control.js';
import { makeGateway, type GatewayNeeds } from '../../src/application/gateway/gateway.js';
import type { EventSourcing } from '../../src/application/event-sourcing/append.js';
import { Overloaded } from '../../src/application/faults/errors.js';
import { Tenants } from '../../src/application/tenancy/tenants.js';
import { FactRecorder } from '../../src/application/event-sourcing/fact-recorder.js';
import { builtInHarnesses } from '../../src/application/enrollment/harnesses.js';
import { makeKeyMaker } from '../../src/application/access/api-keys.js';
import { AggregateStore } from '../../src/application/event-sourcing/aggregate-store.js';
import type { Models } from '../../src/application/ports/models.js';
import type { EventStore } from '../../src/application/ports/event-store.js';
import type { ReadDbs } from '../../src/application/ports/read-models.js';
import { operations } from '../../src/application/registry.js';
import { isRefusal } from '../../src/domain/kernel/refusal.js';
import { makeLiveFeed } from '../../src/application/event-sourcing/live-feed/live-feed.js';
import { makeModels } from '../../src/infrastructure/llm/models.js';
import { MemoryEventStore } from '../../src/infrastructure/memory/event-store.js';
import { MemorySnapshots } from '../../src/infrastructure/memory/snapshots.js';
import { MemoryPersonalDataKeys } from '../../src/infrastructure/memory/personal-data-keys.js';
import { MemoryVault } from '../../src/infrastructure/memory/vault.js';
import { MemoryScratchpadStore } from '../../src/infrastructure/memory/scratchpad-store.js';

const pepper = Buffer.alloc(32, 7);
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const uncounted = { count: () => undefined, observe: () => undefined };
const noRows: ReadDbs = { for: () => ({ rows: async () => [] }), system: { rows: async () => [] } };
const noProjections: ProjectionControl = { list: async () => [], rebuild: async () => undefined };

/** The whole application over memory ports, without read models unless it is given some: for commands, in milliseconds. */
export async function memoryApp({
  log = new MemoryEventStore(),
  subjects = new MemoryPersonalDataKeys(),
  vault = new MemoryVault(),
  models = makeModels(vault),
  clock = { now: () => new Date() },
  elapsed = () => performance.now(),
  dbs = noRows,
  ...overrides
}: Partial<GatewayNeeds> & {
  readonly log?: EventStore;
  readonly subjects?: MemoryPersonalDataKeys;
  readonly vault?: MemoryVault;
  readonly models?: Models;
  readonly dbs?: ReadDbs;
  /** The monotonic clock, milliseconds. */
  readonly elapsed?: () => number;
} = {}) {
  const store = new AggregateStore(log, subjects, new MemorySnapshots());
  const apiKeys = makeKeyMaker(pepper);
  const working = new MemoryScratchpadStore();
  const live = makeLiveFeed(log);
  const eventSourcing: EventSourcing = {
    eventStore: log,
    store,
    personalDataKeys: subjects,
    clock,
    metrics: uncounted,
    commandQueue: new KeyedMutex(() => new Overloaded('eventstore')),
    facts: new FactRecorder(log),
  };
  const tenants = new Tenants({ eventSourcing, scratchpadStore: working, live, vault }, dbs);
  const needs: GatewayNeeds = {
    authenticate: makeAuthenticate({
      principals: new Principals({ store, dbs, elapsed }),
      pepper,
      clock,
      usage: { touch: () => undefined },
    }),
    clock,
    metrics: uncounted,
    logger: quiet,
    tenants,
    logGuard: { hold: () => undefined },
    watermark: { waitFor: async () => true },
    cursorKey: pepper,
    services: { apiKeys, models, harnesses: { list: async () => builtInHarnesses } },
    projections: noProjections,
    ...overrides,
  };
  const gateway = makeGateway(needs);
  const { aggregates } = tenants.ofSystem(administratorId, 'administrator');
  let adminKey = '';
  await ensureAdministrator(aggregates, apiKeys, { write: (key) => (adminKey = key), remove: () => undefined });
  const app = { gateway, needs, models, tenants, eventSourcing, log, working, live, vault, subjects, store, adminKey };
  return { ...app, call: caller(gateway) };
}

export type MemoryApp = Awaited<ReturnType<typeof memoryApp>>;

/** Calls an operation by its name. */
const caller =
  (gateway: Gateway) =>
  (token: string | undefined, name: string, input: unknown = {}, more: Partial<Request> = {}): Promise<Reply> => {
    const operation = operations.find((one) => one.name === name);
    if (!operation) throw new Error(`There is no operation ${name}.`);
    return gateway({ operation, input, principal: { bearer: token }, door: 'rest', ...more });
  };

/** The data of a reply that must have succeeded. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the shape that the operation declares
export function dataOf<Data = Record<string, unknown>>({ result }: Reply): Data {
  if (isRefusal(result)) throw new Error(`refused: ${result.refused} ${result.message}`);
  return result.data as Data;
}

export const refusalOf = ({ result }: Reply): string => (isRefusal(result) ? result.refused : 'ok');

/** A member with a key of their own. */
export async function memberOf(app: MemoryApp, name: string) {
  const made = dataOf<{ user: { id: string }; key: { key: string } }>(
    await app.call(app.adminKey, 'user.create', { name }),
  );
  return { id: made.user.id, key: made.key.key };
}
