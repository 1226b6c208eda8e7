import { startStack, type Stack } from '../support/stack.js';
import { until } from '../support/until.js';

type Made = { readonly id: string; readonly key: string };

let stack: Stack;
let ada: Awaited<ReturnType<Stack['user']>>;
beforeAll(async () => {
  stack = await startStack();
  ada = await stack.user('Ada');
});
afterAll(() => stack.stop());

describe('an administrator', () => {
  it('makes users with a workspace and a key that is shown once', async () => {
    const { status, data } = await stack.admin.post('/v1/users', { name: 'Grace' });
    expect(status).toBe(201);
    expect(data).toMatchObject({
      user: { name: 'Grace', role: 'member' },
      workspace: { name: 'Grace' },
      key: { expiresAt: null },
    });
    const { key } = data as { key: { key: string } };
    expect(key.key).toMatch(/^plm_key_[0-9a-z]{26}_[A-Za-z0-9_-]{43}$/);
    expect((await stack.client(key.key).get('/v1/me')).data).toMatchObject({ user: { name: 'Grace' } });
  });

  it('reads any user; a user reads only themselves', async () => {
    const bob = await stack.user('Bob');
    expect((await stack.admin.get(`/v1/users/${bob.userId}`)).data).toMatchObject({ name: 'Bob' });
    expect((await bob.get(`/v1/users/${bob.userId}`)).data).toMatchObject({ name: 'Bob' });
    expect((await ada.get(`/v1/users/${bob.userId}`)).code).toBe('not_found');
  });

  it('is the only one who makes users', async () =>
    expect((await ada.post('/v1/users', { name: 'X' })).status).toBe(403));
});

describe('a key', () => {
  it('is listed without its secret, and tells when it was last used', async () => {
    const { data } = await ada.post('/v1/keys', { name: 'listed' });
    const made = data as Made;
    const listed = await ada.get('/v1/keys');
    const found = (listed.data as { id: string }[]).find(({ id }) => id === made.id);
    expect(found).toMatchObject({ name: 'listed', workspaceId: ada.workspaceId, lastUsedAt: null });
    expect(listed.text).not.toContain(made.key.split('_').at(-1));
  });

  it('stops working within five seconds of its revocation, on every process', async () => {
    const other = await stack.another('api');
    const { data } = await ada.post('/v1/keys', { name: 'short-lived' });
    const made = data as Made;
    const clients = [stack.client(made.key), stack.client(made.key, other.url)];
    for (const client of clients) expect((await client.get('/v1/me')).status).toBe(200);
    expect((await ada.delete(`/v1/keys/${made.id}`)).status).toBe(200);
    await until(async () => {
      const replies = await Promise.all(clients.map((client) => client.get('/v1/me')));
      return replies.every(({ status }) => status === 401) || undefined;
    }, 5_000);
    await other.stop();
  });

  it('of another user cannot be revoked', async () => {
    const bob = await stack.user('Bob');
    const { data } = await bob.post('/v1/keys', { name: 'his' });
    expect((await ada.delete(`/v1/keys/${(data as Made).id}`)).code).toBe('not_found');
    expect((await stack.client((data as Made).key).get('/v1/me')).status).toBe(200);
  });

  it('that is wrong in any way meets one answer', async () => {
    const { data } = await ada.post('/v1/keys', { name: 'gone' });
    const made = data as Made;
    const gone = stack.client(made.key);
    await ada.delete(`/v1/keys/${made.id}`);
    await until(async () => ((await gone.get('/v1/me')).status === 401 ? true : undefined));
    const wrong = ['', 'x', 'plm_', `${ada.key}x`, ada.key.replace(/.$/, (c) => (c === 'A' ? 'B' : 'A'))];
    const replies = await Promise.all(
      [gone, ...wrong.map((key) => stack.client(key))].map((client) => client.get('/v1/me')),
    );
    const bodies = replies.map(({ status, text }) => `${status} ${text.replace(/[0-9a-f-]{36}/, '')}`);
    expect(new Set(bodies).size).toBe(1);
    expect(replies[0]?.status).toBe(401);
  });
});

describe('a workspace', () => {
  it('is seen by its members, and their keys in it end with their membership', async () => {
    const bob = await stack.user('Bob');
    const { data } = await ada.post('/v1/workspaces', { name: 'Team' });
    const workspaceId = (data as Made).id;
    expect((await bob.get(`/v1/workspaces/${workspaceId}`)).code).toBe('not_found');
    expect((await bob.post('/v1/keys', { name: 'team', workspaceId })).code).toBe('not_found');

    expect((await ada.post(`/v1/workspaces/${workspaceId}/members`, { memberId: bob.userId })).status).toBe(201);
    expect((await bob.get(`/v1/workspaces/${workspaceId}`)).data).toMatchObject({ name: 'Team', ownerId: ada.userId });
    expect(((await bob.get('/v1/workspaces')).data as Made[]).map(({ id }) => id)).toContain(workspaceId);
    const key = (await bob.post('/v1/keys', { name: 'team', workspaceId })).data as Made;
    const inTeam = stack.client(key.key);
    expect((await inTeam.get('/v1/me')).data).toMatchObject({ workspace: { id: workspaceId } });

    expect((await ada.delete(`/v1/workspaces/${workspaceId}/members/${bob.userId}`)).status).toBe(200);
    await until(async () => ((await inTeam.get('/v1/me')).status === 401 ? true : undefined), 5_000);
    expect((await bob.get('/v1/me')).status).toBe(200);
  });

  it('cannot be changed by a member who does not own it', async () => {
    const { data } = await ada.post('/v1/workspaces', { name: 'Hers' });
    const bob = await stack.user('Bob');
    const path = `/v1/workspaces/${(data as Made).id}/members`;
    await ada.post(path, { memberId: bob.userId });
    expect((await bob.post(path, { memberId: bob.userId })).code).toBe('not_found');
    expect((await bob.delete(`${path}/${ada.userId}`)).code).toBe('not_found');
  });
});
