import { Redis } from 'ioredis';
import { openEventStore } from '../../src/infrastructure/eventstore/event-store.js';
import { openScratchpadStore } from '../../src/infrastructure/redis/scratchpad-store/scratchpad-store.js';
import { eventually } from '../support/eventually.js';
import { quiet } from '../support/quiet.js';
import { leftovers, type Bench, type Leftover } from './rig/leftovers.js';
import { sizeOf } from './rig/random.js';
import { startSite, type Site } from './rig/site.js';

let site: Site;
let bench: Bench;
let close: () => Promise<void>;
beforeAll(async () => {
  site = await startSite();
  const door = await site.program('api');
  await site.program('projector');
  const log = openEventStore(site.backends.url, quiet);
  const working = openScratchpadStore(site.redis.url);
  await working.assertDurable();
  const redis = new Redis(site.redis.url);
  bench = { admin: site.admin(door), redis, working, log };
  close = async () => {
    redis.disconnect();
    await working.close();
    await log.close();
  };
}, 60_000);
afterAll(async () => {
  await close();
  await site.remove();
});

interface Left {
  readonly name: string;
  readonly faults: () => Promise<readonly string[]>;
}

const leave = (some: readonly Leftover[]): Promise<readonly Left[]> =>
  Promise.all(some.map(async (one) => ({ name: one.name, faults: await one.leave(bench) })));

/** The second pass of a purge comes 20 s after the first, and a job of a worker that died is taken up 30 s later. */
const finishedWithinMs = 120_000;

async function areFinished(left: readonly Left[]): Promise<void> {
  for (const { name, faults } of left) {
    await eventually(
      async () => (await faults()).map((fault) => `${name}: ${fault}`),
      (all) => all.length === 0,
      finishedWithinMs,
    );
  }
}

const purged = 'eventStore.append(scratchpad.purged)';
const effects = [...new Set(leftovers.flatMap((one) => one.effects))].filter((effect) => effect !== purged);
/** The rest are like these, and looked at in the long form only. */
const few = ['markRepeated', 'mend', 'rearrange', 'forgetCleared', 'activate', 'purge'];
const chosen =
  sizeOf('CHAOS_COMMANDS', 0, 1) > 0
    ? effects.flatMap((effect) => [`before:${effect}`, `after:${effect}`])
    : effects.filter((effect) => few.some((word) => effect.includes(word))).map((effect) => `after:${effect}`);

describe('what is half done', () => {
  it('is finished by the worker, by way of every effect that is named here and by no other', async () => {
    const tracer = await site.program('worker', { PALIMPSEST_CRASH_AT: 'trace' });
    await areFinished(await leave(leftovers));
    const reported = [...tracer.errors.matchAll(/^crash point after:(\S+)$/gm)].map(([, effect]) => effect ?? '');
    await tracer.stop();
    expect([...new Set(reported)].sort()).toEqual([...effects, purged].sort());
  }, 240_000);

  it('is finished once, though the worker dies at one effect after the other', async () => {
    const left = [...(await leave(leftovers))];
    for (const point of new Set([
      ...chosen,
      'before:credentialVault.activate',
      `before:${purged}`,
      `after:${purged}`,
    ])) {
      left.push(...(await leave(leftovers.filter((one) => one.effects.some((effect) => point.endsWith(effect))))));
      const victim = await site.program('worker', { PALIMPSEST_CRASH_AT: point });
      expect([point, await victim.ended()]).toEqual([point, 'SIGKILL']);
    }
    const worker = await site.program('worker');
    await areFinished(left);
    await worker.stop();
    expect(site.exits()).toEqual([]);
  }, 600_000);
});
