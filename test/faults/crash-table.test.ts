import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { openEventStore } from '../../src/infrastructure/eventstore/event-store.js';
import { eventually } from '../support/eventually.js';
import { quiet } from '../support/quiet.js';
import { crashingCommands, type CrashingCommand, type Prepared, type Sight } from './rig/crashing-commands.js';
import { sizeOf } from './rig/random.js';
import { startSite, type Placed, type Site } from './rig/site.js';
import { startTracer, Victims, type CrashPoint } from './rig/victims.js';

let site: Site;
let tracer: Awaited<ReturnType<typeof startTracer>>;
let door: Placed;
let worker: Placed;
let log: ReturnType<typeof openEventStore>;
let database: Client;
let sight: Sight;
beforeAll(async () => {
  site = await startSite();
  door = await site.program('api');
  [tracer, worker] = await Promise.all([startTracer(site), site.program('worker'), site.program('projector')]);
  log = openEventStore(site.backends.url, quiet);
  database = new Client({ connectionString: site.backends.databaseUrl });
  await database.connect();
  sight = { admin: site.admin(door), redis: new Redis(site.redis.url), log, inUse };
}, 60_000);
afterAll(async () => {
  sight.redis.disconnect();
  await log.close();
  await database.end();
  await site.remove();
});

const inUse = async (ownerId: string): Promise<number> =>
  (
    await database.query("select from palimpsest.credential_versions where owner_id = $1 and status = 'active'", [
      ownerId,
    ])
  ).rowCount ?? 0;

const keyFor = ({ idempotencyKey = randomUUID() }: Prepared): string => idempotencyKey;

/** Two are made of the steps of others, and are looked at in the long form only. */
const chosen = crashingCommands.filter(
  ({ name }) => sizeOf('CHAOS_COMMANDS', 0, 1) > 0 || !['scratchpad.clear', 'scratchpad.content.clear'].includes(name),
);

/** Sends a command to a process that dies of it. The worker, which would help it along, is frozen. */
async function crash(command: Prepared, victim: Placed, idempotencyKey: string): Promise<void> {
  const ended = victim.ended();
  const answer = await command.by
    .at(victim.url)
    .once({ ...command.call, headers: { 'idempotency-key': idempotencyKey } });
  if (answer.status !== 0) throw new Error(`it was not come by: the command answered ${answer.status}`);
  expect(await ended).toBe('SIGKILL');
}

const holds = (command: Prepared, happened: boolean): Promise<unknown> =>
  eventually(
    () => command.faults(happened),
    (faults) => faults.length === 0,
    45_000,
  );

async function retried(command: Prepared, idempotencyKey: string, happened: boolean): Promise<void> {
  const answer = await command.by.at(door.url).surely(command.call, { idempotencyKey });
  expect(answer.text).toMatch(/"data"/);
  if (happened) expect(command.answer?.(answer) ?? []).toEqual([]);
}

async function pointsOf(command: CrashingCommand): Promise<readonly CrashPoint[]> {
  const prepared = await command.prepare(sight);
  worker.freeze();
  const points = await tracer.pointsOf(() =>
    prepared.by.at(tracer.program.url).surely(prepared.call, { idempotencyKey: keyFor(prepared) }),
  );
  worker.thaw();
  expect(points).toEqual(expect.arrayContaining([...command.designed]));
  return points;
}

/** A command whose process died at a point, and the retry that some make at once. */
interface Cut {
  readonly point: CrashPoint;
  readonly command: Prepared;
  readonly idempotencyKey: string;
  readonly happened: boolean;
  readonly isRetried: boolean;
}

/** Every other one is asked for again before the worker comes to it. */
async function cutAt(point: CrashPoint, number: number, command: Prepared, victim: Placed): Promise<Cut> {
  const idempotencyKey = keyFor(command);
  await crash(command, victim, idempotencyKey);
  const happened = await command.happened();
  const isRetried = number % 2 === 1;
  if (isRetried) await retried(command, idempotencyKey, happened);
  return { point, command, idempotencyKey, happened, isRetried };
}

/** What is left is one thing or the other, whole, without the caller's help; once asked for again, it has happened. */
async function recovers({ command, idempotencyKey, happened, isRetried }: Cut): Promise<void> {
  if (!isRetried) {
    await holds(command, happened);
    await retried(command, idempotencyKey, happened);
  }
  await holds(command, true);
}

const at = (point: CrashPoint) => (fault: unknown) => {
  throw new Error(`${point}: ${fault instanceof Error ? fault.message : String(fault)}`, { cause: fault });
};

describe.each(chosen)('$name, cut short by a crash', (command) => {
  it('has happened whole or not at all, wherever it was cut, and can be asked for again', async () => {
    const points = await pointsOf(command);
    const prepared = await Promise.all(points.map(async (point) => ({ point, command: await command.prepare(sight) })));
    const victims = new Victims(site, points);
    const cuts: Cut[] = [];
    worker.freeze();
    try {
      for (const [number, { point, command: one }] of prepared.entries())
        cuts.push(await cutAt(point, number, one, await victims.take()).catch(at(point)));
    } finally {
      worker.thaw();
    }
    await Promise.all(cuts.map((cut) => recovers(cut).catch(at(cut.point))));
    expect(cuts).toHaveLength(points.length);
    expect(site.exits()).toEqual([]);
  }, 240_000);
});
