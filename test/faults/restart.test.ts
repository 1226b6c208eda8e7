import { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { runCli } from '../support/cli.js';
import type { Caller } from './rig/caller.js';
import { History, missing, repeated } from './rig/history.js';
import { makeHome, type Home } from './rig/home.js';
import { audited, listed } from './rig/ledger.js';
import { newPad, newPerson } from './rig/people.js';
import { sizeOf, withSeed } from './rig/random.js';

let home: Home;
beforeAll(async () => {
  home = await makeHome();
  await home.program.start();
}, 60_000);
afterAll(() => home.remove());

async function killAndStart(): Promise<void> {
  await home.program.kill();
  await home.program.start();
}

/** Pads of this home that are alive, by the streams. */
async function livingPads(admin: Caller): Promise<ReadonlySet<string>> {
  const { text } = await admin.get('/v1/audit/export');
  const events = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { type: string; data: { scratchpadId?: string } }); // one event a line
  const ids = (type: string) =>
    events.filter((event) => event.type === type).map(({ data }) => String(data.scratchpadId));
  const dead = new Set([...ids('thread.scratchpad_detached'), ...ids('thread.deleted')]);
  return new Set(ids('thread.scratchpad_attached').filter((id) => !dead.has(id)));
}

async function padsInRedis(): Promise<ReadonlySet<string>> {
  const redis = new Redis(home.redisUrl());
  try {
    return new Set((await redis.keys('scratchpad:*')).map((key) => key.split(':')[2] ?? ''));
  } finally {
    redis.disconnect();
  }
}

const orphans = async (): Promise<readonly string[]> => {
  const living = await livingPads(home.admin());
  return [...(await padsInRedis())].filter((id) => !living.has(id));
};

describe('a home whose server was killed', () => {
  it(
    'has everything that was acknowledged when it is started again',
    () =>
      withSeed(async (random) => {
        const ada = await newPerson(home.admin(), 'Ada');
        const pads = await Promise.all(Array.from({ length: 4 }, () => newPad(ada.caller)));
        const history = new History();
        const revisions = new Map<string, number>();
        let writing = true;
        const isWriting = () => writing; // Asked after a wait, when it may have changed.
        const work = async (writer: number) => {
          for (let n = 0; isWriting(); n += 1) {
            const { id } = random.pick(
              [pads[0], ...pads.slice(1)].filter((pad) => pad !== undefined) as [(typeof pads)[0], ...typeof pads],
            );
            const content = `writer ${writer}, entry ${n}`;
            const path = `/v1/scratchpads/${id}`;
            history.appended(
              id,
              content,
              await ada.caller.surely({ method: 'POST', path: `${path}/entries`, body: { content } }),
            );
            const set = await ada.caller.surely({ method: 'PUT', path: `${path}/content`, body: { content } });
            const { revision } = set.data as { revision: number }; // as scratchpad.content.set declares
            revisions.set(id, Math.max(revision, revisions.get(id) ?? 0));
          }
        };
        const progress = (more: number) => {
          const goal = history.appends.length + more;
          return eventually(
            () => history.appends.length,
            (count) => count >= goal,
            120_000,
          );
        };
        const working = Promise.all([0, 1, 2, 3].map(work));
        for (let round = 0; round < sizeOf('CHAOS_RESTARTS', 1, 20); round += 1) {
          await progress(random.between(20, 60));
          await killAndStart();
        }
        await progress(20);
        writing = false;
        await working;
        await killAndStart();

        for (const { id } of pads) {
          const entries = await listed(ada.caller, id);
          expect(repeated(entries)).toEqual([]);
          expect(missing(history.of(id), entries)).toEqual([]);
          const content = (await ada.caller.get(`/v1/scratchpads/${id}/content`)).data;
          expect(content).toMatchObject({ revision: revisions.get(id) ?? 0 });
          expect(await audited(ada.caller, `scratchpad-${id}`)).toHaveLength(1 + (revisions.get(id) ?? 0));
        }
        expect((await ada.caller.get('/v1/me')).status).toBe(200);
      }),
    240_000,
  );

  it(
    'lost nothing and orphaned nothing when that was in mid-tour',
    () =>
      withSeed(async (random) => {
        const touring = () => runCli(['tour', '--url', home.url, '--key-file', `${home.folder}/admin.key`]);
        for (let round = 0; round < sizeOf('CHAOS_TOURS', 2, 30); round += 1) {
          const tour = touring();
          await pause(random.between(150, 700));
          await killAndStart();
          await tour;
        }
        expect((await touring()).code).toBe(0);
        await eventually(orphans, (ids) => ids.length === 0);
        const living = await livingPads(home.admin());
        await eventually(padsInRedis, (ids) => [...living].every((id) => ids.has(id)));
      }),
    240_000,
  );

  it('has no process left of it once it has ended', async () => {
    expect(home.processes().length).toBeGreaterThan(3);
    await home.program.kill();
    await eventually(
      () => home.processes(),
      (pids) => pids.length === 0,
    );
    await home.program.start();
    expect((await home.admin().get('/v1/me')).status).toBe(200);
  }, 60_000);
});
