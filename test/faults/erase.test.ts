import { randomUUID } from 'node:crypto';
import { eventually } from '../support/eventually.js';
import type { Caller } from './rig/caller.js';
import { makeHome, type Home } from './rig/home.js';
import { newPad, newPerson, type Pad } from './rig/people.js';
import { everythingOf, placesOf } from './rig/traces.js';

let home: Home;
beforeAll(async () => {
  home = await makeHome();
  await home.program.start();
}, 60_000);
afterAll(() => home.remove());

/** Writes words wherever words can be written, each place its own. */
async function writeEverywhere(caller: Caller, word: (place: string) => string): Promise<Pad> {
  const pad = await newPad(caller, word('title'));
  const thread = `/v1/threads/${pad.threadId}`;
  const path = `/v1/scratchpads/${pad.id}`;
  await caller.done('PATCH', thread, { title: word('newtitle'), metadata: { note: word('metadata') } });
  await caller.done('POST', `${thread}/messages`, { role: 'user', content: word('message') });
  await caller.done('PATCH', path, { metadata: { note: word('padmetadata') } });
  await caller.done('PUT', `${path}/content`, { content: word('content') });
  await caller.done('PUT', `${path}/content`, { content: word('newcontent') });
  await caller.done('POST', `${path}/entries`, { content: word('entry') });
  await caller.done('DELETE', `${path}/entries`);
  await caller.done('POST', `${path}/entries`, { content: word('newentry') });
  await caller.done('POST', '/v1/workspaces', { name: word('workspace') });
  await caller.done('POST', '/v1/keys', { name: word('keyname'), scopes: ['scratchpads:read'] });
  await caller.done('POST', '/v1/agents/enroll', {
    harness: 'native',
    name: word('agent'),
    persona: word('persona'),
    model: 'anthropic/m',
    provider: 'anthropic',
    credential: { mode: 'intake', type: 'api_key', value: word('secret') },
  });
  // What is refused is written nowhere either.
  await caller.once({ method: 'POST', path: `${path}/entries`, body: { content: word('refused'), surplus: true } });
  await caller.get(`/v1/scratchpads/${word('pathname')}`);
  return pad;
}

/** Everything that a person sees of their own. */
const seen = async (caller: Caller, pad: Pad): Promise<readonly string[]> =>
  Promise.all(
    [
      '/v1/me',
      '/v1/threads',
      '/v1/keys',
      '/v1/workspaces',
      '/v1/agents',
      '/v1/scratchpads',
      `/v1/threads/${pad.threadId}/messages`,
      `/v1/scratchpads/${pad.id}/view`,
    ].map(async (path) => JSON.stringify((await caller.get(path)).data)),
  );

describe('an erased user of a whole installation', () => {
  it('leaves no readable word in events, rows, Redis, queue or logs, replays, and nobody else is touched', async () => {
    const marks = { eve: `Eve${randomUUID().slice(0, 8)}`, ada: `Ada${randomUUID().slice(0, 8)}` };
    const places = new Set<string>();
    const wordOf = (mark: string) => (place: string) => {
      places.add(place);
      return `${mark}-${place}`;
    };
    const admin = home.admin();
    const [eve, ada] = [await newPerson(admin, `${marks.eve}-name`), await newPerson(admin, `${marks.ada}-name`)];
    const evesPad = await writeEverywhere(eve.caller, wordOf(marks.eve));
    const adasPad = await writeEverywhere(ada.caller, wordOf(marks.ada));
    const before = await seen(ada.caller, adasPad);
    // The looking itself works: what is not erased is found, in rows and in Redis.
    const found = placesOf(`${marks.ada}-`, await everythingOf(home));
    expect(found.some((place) => place.startsWith('table '))).toBe(true);
    expect(found).toContain(`key scratchpad:${ada.id}:${adasPad.id}:entries`);

    expect(await admin.done('DELETE', `/v1/users/${eve.id}`)).toEqual({ id: eve.id, deleted: true });

    await eventually(
      async () => placesOf(marks.eve, await everythingOf(home)),
      (left) => left.length === 0,
      30_000,
    );
    // A process trusts a key that it has checked for some seconds more.
    await eventually(
      async () => (await eve.caller.get('/v1/me')).status,
      (status) => status === 401,
    );
    const projections = await admin.done<readonly { name: string }[]>('GET', '/v1/projections');
    expect(projections.length).toBeGreaterThan(0);
    for (const { name } of projections) await admin.done('POST', `/v1/projections/${name}/rebuild`);
    expect(placesOf(marks.eve, await everythingOf(home))).toEqual([]);
    const trail = await admin.get(`/v1/audit/export?tenant=${eve.id}`);
    expect(trail.text).toContain('user.erased');
    expect(trail.text).toContain(evesPad.id);
    // `lastUsedAt` of the key that has just looked may move.
    const timeless = (texts: readonly string[]) =>
      texts.map((text) => text.replace(/"lastUsedAt":("[^"]*"|null)/g, ''));
    expect(timeless(await seen(ada.caller, adasPad))).toEqual(timeless(before));
  }, 120_000);
});

/** Makes one thing after the other, until there is no more making. Answers what was made. */
async function makeMany(caller: Caller, path: string, body: () => unknown): Promise<readonly unknown[]> {
  const made: unknown[] = [];
  for (;;) {
    const { status, data } = await caller.once({ method: 'POST', path, body: body() });
    if (status !== 201) return made;
    made.push(data);
  }
}

describe('users who are erased while they make things', () => {
  it('leave no readable word, and no key that opens anything', async () => {
    const mark = `Mia${randomUUID().slice(0, 8)}`;
    let words = 0;
    const word = () => `${mark}-${(words += 1)}`;
    const admin = home.admin();
    const people = await Promise.all(Array.from({ length: 8 }, () => newPerson(admin, word())));
    const makings = people.map(({ caller }) =>
      Promise.all([
        makeMany(caller, '/v1/keys', () => ({ name: word() })),
        makeMany(caller, '/v1/workspaces', () => ({ name: word() })),
        makeMany(caller, '/v1/threads', () => ({ title: word() })),
        makeMany(caller, '/v1/agents/enroll', () => ({
          harness: 'native',
          name: word(),
          model: 'm',
          provider: 'anthropic',
          idempotencyKey: randomUUID(),
          credential: { mode: 'intake', type: 'api_key', value: word() },
        })),
      ]),
    );
    await eventually(
      () => words,
      (made) => made > 200,
    );
    await Promise.all(people.map(({ id }) => admin.done('DELETE', `/v1/users/${id}`)));

    const made = await Promise.all(makings);
    expect(made.flat().every(({ length }) => length > 0)).toBe(true);
    const keys = made.flatMap(([all]) => all.slice(-3)) as { readonly key: string }[]; // as key.create declares
    await eventually(
      () => Promise.all(keys.map(async ({ key }) => (await admin.as(key).get('/v1/me')).status)),
      (statuses) => statuses.every((status) => status === 401),
    );
    await eventually(
      async () => placesOf(mark, await everythingOf(home)),
      (left) => left.length === 0,
      30_000,
    );
  }, 120_000);
});
