import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { openEventLog } from '../../src/infrastructure/eventstore/event-log.js';
import { eventually } from '../support/eventually.js';
import { quiet } from '../support/quiet.js';
import { crashingCommands, type CrashingCommand, type Prepared, type Sight } from './rig/crashing-commands.js';
import { startSite, type Placed, type Site } from './rig/site.js';
import { startTracer, Victims, type CrashPoint } from './rig/victims.js';

let site: Site;
let tracer: Awaited<ReturnType<typeof startTracer>>;
let door: Placed;
let worker: Placed;
let log: ReturnType<typeof openEventLog>;
let sight: Sight;
beforeAll(async () => {
  site = await startSite();
  door = await site.program('api');
  [tracer, worker] = await Promise.all([startTracer(site), site.program('worker'), site.program('projector')]);
  log = openEventLog(site.backends.url, quiet);
  sight = { admin: site.admin(door), redis: new Redis(site.redis.url), log };
}, 60_000);
afterAll(async () => {
  sight.redis.disconnect();
  await log.close();
  await site.remove();
});

/** Sends a command to a process that dies of it, while the worker, which would help it along, is frozen. */
async function crash(command: Prepared, victim: Placed, idempotencyKey: string): Promise<void> {
  worker.freeze();
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

/** What is left is one thing or the other, whole, without the caller's help. */
async function recovers(command: Prepared, victim: Placed, idempotencyKey: string): Promise<void> {
  await crash(command, victim, idempotencyKey);
  const happened = await command.happened();
  worker.thaw();
  await holds(command, happened);
  await retried(command, idempotencyKey, happened);
}

/** The retry mends it, before the worker comes to it. */
async function recoversByRetry(command: Prepared, victim: Placed, idempotencyKey: string): Promise<void> {
  await crash(command, victim, idempotencyKey);
  await retried(command, idempotencyKey, await command.happened());
  worker.thaw();
  await holds(command, true);
}

async function retried(command: Prepared, idempotencyKey: string, happened: boolean): Promise<void> {
  const answer = await command.by.at(door.url).surely(command.call, { idempotencyKey });
  expect(answer.text).toMatch(/"data"/);
  if (happened) expect(command.answer?.(answer) ?? []).toEqual([]);
}

async function pointsOf(command: CrashingCommand): Promise<readonly CrashPoint[]> {
  const prepared = await command.prepare(sight);
  worker.freeze();
  const points = await tracer.pointsOf(() => prepared.by.at(tracer.program.url).surely(prepared.call));
  worker.thaw();
  expect(points).toEqual(expect.arrayContaining([...command.designed]));
  return points;
}

describe.each(crashingCommands)('$name, cut short by a crash', (command) => {
  it('has happened whole or not at all, wherever it was cut, and can be asked for again', async () => {
    const points = await pointsOf(command);
    const victims = new Victims(site, points);
    const faults: string[] = [];
    for (const [number, point] of points.entries()) {
      const prepared = await command.prepare(sight);
      const recovery = number % 2 === 0 ? recovers : recoversByRetry;
      try {
        await recovery(prepared, await victims.take(), randomUUID());
        await holds(prepared, true);
      } catch (fault) {
        faults.push(`${point}: ${fault instanceof Error ? fault.message : String(fault)}`);
        worker.thaw();
      }
    }
    expect(faults).toEqual([]);
    expect(site.exits()).toEqual([]);
  }, 240_000);
});
