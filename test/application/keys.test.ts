import { systemWorkFor } from '../../src/application/tenancy/tenants.js';
import { scratchpadReaction } from '../../src/application/reactions/scratchpads.js';
import { makeStreams } from '../../src/application/event-sourcing/aggregates.js';
import { key } from '../../src/domain/key/key.js';
import { erase, user } from '../../src/domain/user/user.js';
import { dataOf, memberOf, memoryApp, refusalOf, type MemoryApp } from '../support/memory-app.js';

type Made = { readonly id: string; readonly key: string };

let app: MemoryApp;
let ada: Made;
let bob: Made;
beforeAll(async () => {
  app = await memoryApp();
  [ada, bob] = [await memberOf(app, 'Ada'), await memberOf(app, 'Bob')];
});

const newWorkspace = async () =>
  dataOf<{ id: string }>(await app.call(ada.key, 'workspace.create', { name: 'Team' })).id;
const newKey = (owner: Made, more = {}) => app.call(owner.key, 'key.create', { name: 'worker', ...more });

describe('a key in a workspace that no read model shows yet', () => {
  it('is made by its owner', async () => {
    const workspaceId = await newWorkspace();
    expect(dataOf(await newKey(ada, { workspaceId }))).toMatchObject({ workspaceId });
  });

  it('is made by a member, and by nobody else', async () => {
    const workspaceId = await newWorkspace();
    expect(refusalOf(await newKey(bob, { workspaceId }))).toBe('not_found');
    await app.call(ada.key, 'workspace.member.add', { workspaceId, memberId: bob.id });
    expect(refusalOf(await newKey(bob, { workspaceId }))).toBe('ok');
  });
});

describe('a key that is made while its owner is being erased', () => {
  it('opens nothing, and is revoked', async () => {
    const eve = await memberOf(app, 'Eve');
    expect(refusalOf(await app.call(eve.key, 'thread.create'))).toBe('ok');
    const hers = {
      ownerId: eve.id,
      actor: { type: 'system', id: 'test' },
      correlationId: '',
      commandId: 'erase',
    } as const;
    const streams = makeStreams(app.streamsNeeds, hers);
    await streams.execute(user, eve.id, erase);
    // The first key is still trusted, for some seconds.
    const late = dataOf<Made>(await newKey(eve));
    expect(refusalOf(await app.call(late.key, 'thread.create'))).toBe('authentication_failed');

    const noRows = { rows: async () => [] };
    const { streamsNeeds, working, vault } = app;
    const readModels = { reached: async () => true };
    const needs = { ...streamsNeeds, working, vault, readModels, dbs: { for: () => noRows, system: noRows } };
    const life = scratchpadReaction(systemWorkFor(needs), { purge: async () => undefined });
    const [made] = await app.store.events(`key-${late.id}`, 0, 1);
    if (made) await life.on['key.created']?.(made);
    expect((await streams.load(key, late.id)).status).toBe('revoked');
  });
});
