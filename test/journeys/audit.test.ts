import { createHash } from 'node:crypto';
import { projections } from '../../projections/index.js';
import { digestOf } from '../../src/application/kernel/canonical-json.js';
import { startStack, type Stack } from '../support/stack.js';

interface Exported {
  readonly position: string;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly id: string;
  readonly ownerId: string;
  readonly correlationId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly digest: string;
  readonly hash: string;
}

let stack: Stack;
let ada: Awaited<ReturnType<Stack['user']>>;
let bob: Awaited<ReturnType<Stack['user']>>;
beforeAll(async () => {
  stack = await startStack();
  [ada, bob] = [await stack.user('Ada'), await stack.user('Bob')];
  for (const member of [ada, bob]) {
    for (const title of ['one', 'two', 'three']) await member.post('/v1/threads', { title: `${title} secret plan` });
  }
});
afterAll(() => stack.stop());

const linesOf = (text: string): Exported[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Exported);

const chained = (previous: string, { id, type, stream, revision, digest }: Exported): string =>
  createHash('sha256').update([previous, id, type, stream, revision, digest].join('|')).digest('hex');

/** The id of the first event that does not fit the chain, as an offline verifier would find it. */
function firstBroken(events: readonly Exported[]): string | undefined {
  let previous = '';
  for (const event of events) {
    if (digestOf([event.data, event.metadata]) !== event.digest || chained(previous, event) !== event.hash)
      return event.id;
    previous = event.hash;
  }
  return undefined;
}

describe('the audit trail', () => {
  it("shows a tenant their own events, opened, and nobody else's", async () => {
    const { data, text } = await ada.get('/v1/audit/events?order=asc&limit=100');
    const events = data as Exported[];
    expect(new Set(events.map(({ ownerId }) => ownerId))).toEqual(new Set([ada.userId]));
    expect(events[0]).toMatchObject({ type: 'user.created', data: { name: 'Ada' } });
    expect(text).toContain('one secret plan');
  });

  it('filters by type, stream, correlation id and position', async () => {
    const threads = (await ada.get('/v1/audit/events?type=thread.created&order=asc')).data as Exported[];
    expect(threads).toHaveLength(3);
    const [first] = threads;
    if (!first) throw new Error('there are threads');
    for (const filter of [
      `stream=${first.stream}`,
      `correlationId=${first.correlationId}`,
      `from=${first.position}&to=${first.position}`,
    ]) {
      const found = (await ada.get(`/v1/audit/events?${filter}`)).data as Exported[];
      expect(found.map(({ id }) => id)).toEqual([first.id]);
    }
  });

  it("does not let a member ask for another tenant's", async () =>
    expect((await ada.get(`/v1/audit/events?tenant=${bob.userId}`)).code).toBe('authorization_refused'));

  it('shows an auditor every tenant, without personal text', async () => {
    const made = await stack.admin.post('/v1/users', { name: 'Audrey', role: 'auditor' });
    const auditor = stack.client((made.data as { key: { key: string } }).key.key);
    const all = await auditor.get('/v1/audit/events?limit=100&order=asc');
    const owners = new Set((all.data as Exported[]).map(({ ownerId }) => ownerId));
    expect([ada.userId, bob.userId].every((id) => owners.has(id))).toBe(true);
    expect(all.text).not.toContain('secret plan');
    expect(all.text).toContain('[sealed]');
    const his = (await auditor.get(`/v1/audit/events?tenant=${bob.userId}&type=thread.created`)).data as Exported[];
    expect(his).toHaveLength(3);
    expect((await auditor.post('/v1/users', { name: 'X' })).code).toBe('authorization_refused');
  });
});

describe('an export of the audit trail', () => {
  it('has every event once, in the order of the log, and its chain holds', async () => {
    const { headers, text } = await ada.get('/v1/audit/export');
    expect(headers.get('content-type')).toContain('application/x-ndjson');
    const events = linesOf(text);
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['user.created', 'workspace.created', 'key.created', 'thread.created']),
    );
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    const positions = events.map(({ position }) => BigInt(position));
    expect(positions).toEqual([...positions].sort((a, b) => (a < b ? -1 : 1)));
    expect(firstBroken(events)).toBeUndefined();
    expect(text).not.toContain('secret plan');
  });

  it('resumes from a position', async () => {
    const all = linesOf((await ada.get('/v1/audit/export')).text);
    const from = BigInt(all[2]?.position ?? 0) + 1n;
    expect(linesOf((await ada.get(`/v1/audit/export?from=${from}`)).text)).toEqual(all.slice(3));
  });

  it('shows which event of a copy was edited, taken out or moved', async () => {
    const events = linesOf((await ada.get('/v1/audit/export')).text);
    const edited = events.map((event, n) => (n === 2 ? { ...event, data: { ...event.data, role: 'admin' } } : event));
    expect(firstBroken(edited)).toBe(events[2]?.id);
    expect(firstBroken(events.toSpliced(1, 1))).toBe(events[2]?.id);
    expect(firstBroken([...events.slice(0, 3), ...events.slice(3).reverse()])).toBe(events.at(-1)?.id);
  });
});

describe('the read models', () => {
  it('are listed with position and lag, to administrators only', async () => {
    const listed = (await stack.admin.get('/v1/projections')).data as { name: string; parked: number }[];
    expect(listed.map(({ name }) => name).sort()).toEqual(projections.map(({ name }) => name).sort());
    expect(new Set(listed.map(({ parked }) => parked))).toEqual(new Set([0]));
    expect((await ada.get('/v1/projections')).code).toBe('authorization_refused');
  });

  it.each(['resources', 'audit', 'keys', 'workspaces'])('%s say the same after a rebuild', async (name) => {
    const paths = ['/v1/threads?limit=100', '/v1/keys', '/v1/workspaces', '/v1/audit/events?limit=100'];
    const read = () => Promise.all(paths.map(async (path) => (await bob.get(path)).data));
    const before = await read();
    expect((await stack.admin.post(`/v1/projections/${name}/rebuild`)).data).toMatchObject({ name });
    expect(await read()).toEqual(before);
  });

  it('of no name cannot be rebuilt', async () =>
    expect((await stack.admin.post('/v1/projections/nothing/rebuild')).code).toBe('not_found'));
});
