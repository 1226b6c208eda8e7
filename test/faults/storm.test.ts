import { until } from '../support/until.js';
import { Caller } from './rig/caller.js';
import { History, missing, repeated, unaudited } from './rig/history.js';
import { auditedEntries, listed } from './rig/ledger.js';
import { newPad, newPerson } from './rig/people.js';
import { eventStoreKilled, faultsBetween, postgresKilled, programsFailing, redisKilled } from './rig/faults.js';
import { sizeOf, withSeed } from './rig/random.js';
import { startSite, type Site } from './rig/site.js';
import { startStorm } from './rig/storm.js';

const writers = sizeOf('CHAOS_WRITERS', 16, 64);
const appendsEach = sizeOf('CHAOS_APPENDS', 60, 1_000);
/** The longest time between two faults; longer in the long form, so that it does more than wait. */
const pauseMs = sizeOf('CHAOS_PAUSE', 120, 2_000);

let site: Site;
beforeAll(async () => {
  site = await startSite();
}, 60_000);
afterAll(() => site.remove());

describe('a ledger that many write to while everything beneath it breaks', () => {
  it(
    'keeps every acknowledged entry once, in one order on every read, with its content untouched',
    () =>
      withSeed(async (random) => {
        const first = await site.program('all');
        const second = await site.program('api');
        const doors = await Promise.all([first, second].map((program) => site.door(program)));
        const [one, two] = doors.map(({ port }) => `http://127.0.0.1:${port}`);
        const ada = await newPerson(site.admin(first), 'Ada');
        const caller = new Caller([one ?? '', two ?? ''], ada.caller.key);
        const pad = await newPad(caller);
        await caller.done('PUT', `/v1/scratchpads/${pad.id}/content`, { content: 'the plan' });

        const history = new History();
        const faults = {
          ...faultsBetween('redis', site.proxies.redis, random),
          ...faultsBetween('eventstore', site.proxies.eventstore, random),
          ...doors.reduce((all, door, n) => ({ ...all, ...faultsBetween(`door ${n}`, door, random) }), {}),
          ...redisKilled(site),
          ...eventStoreKilled(site),
          ...postgresKilled(site),
          ...programsFailing([first, second], random),
        };
        const storm = startStorm(random, faults, [pauseMs / 5, pauseMs]);
        const write = async (writer: number) => {
          for (let n = 0; n < appendsEach; n += 1) {
            const content = `writer ${writer}, entry ${n}`;
            const call = { method: 'POST', path: `/v1/scratchpads/${pad.id}/entries`, body: { content } };
            history.appended(pad.id, content, await caller.surely(call));
          }
        };
        await Promise.all(Array.from({ length: writers }, (_, n) => write(n)));
        const made = await storm.end();
        expect([...made.keys()].sort()).toEqual(Object.keys(faults).sort());

        const reads = [];
        for (let read = 0; read < 10; read += 1) reads.push(await listed(caller, pad.id));
        const [entries = []] = reads;
        expect(history.appends.length).toBe(writers * appendsEach);
        expect(repeated(entries)).toEqual([]);
        expect(entries.length).toBe(writers * appendsEach);
        expect(missing(history.appends, entries)).toEqual([]);
        for (const read of reads) expect(read).toEqual(entries);
        const { data } = await caller.get(`/v1/scratchpads/${pad.id}/content`);
        expect(data).toMatchObject({ content: 'the plan', revision: 1 });
        await until(
          async () => (unaudited(entries, await auditedEntries(caller, pad.id)).length === 0 ? true : undefined),
          60_000,
        );
        expect(site.exits()).toEqual([]);
      }),
    sizeOf('CHAOS_MINUTES', 2, 60) * 60_000,
  );

  it('keeps 50 of 50 entries appended at once', async () => {
    const [api] = [await site.program('all')];
    const { caller } = await newPerson(site.admin(api), 'Grace');
    for (let round = 0; round < sizeOf('CHAOS_ROUNDS', 3, 50); round += 1) {
      const pad = await newPad(caller);
      const path = `/v1/scratchpads/${pad.id}/entries`;
      const appended = await Promise.all(
        Array.from({ length: 50 }, (_, n) => caller.once({ method: 'POST', path, body: { content: `entry ${n}` } })),
      );
      expect(appended.map(({ status }) => status)).toEqual(Array(50).fill(201));
      expect(new Set((await listed(caller, pad.id)).map(({ content }) => content)).size).toBe(50);
    }
  }, 120_000);
});
