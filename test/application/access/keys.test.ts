import { scratchpadReaction } from '../../../src/application/reactions/scratchpads.js';
import { key } from '../../../src/domain/key/key.js';
import { erase, user } from '../../../src/domain/user/user.js';
import { dataOf, memberOf, memoryApp, refusalOf, type MemoryApp } from '../../support/memory-app.js';

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
    const { aggregates } = app.tenants.ofSystem(eve.id, 'erase');
    await aggregates.execute(user, eve.id, erase);
    // The first key is still trusted, for some seconds.
    const late = dataOf<Made>(await newKey(eve));
    expect(refusalOf(await app.call(late.key, 'thread.create'))).toBe('authentication_failed');

    const reaction = scratchpadReaction({
      tenantOf: (event) => app.tenants.ofEvent(event),
      purges: { purge: async () => undefined },
      awaitPosition: async () => true,
    });
    const [made] = await app.store.events(`key-${late.id}`, 0, 1);
    if (made) await reaction.on['key.created']?.(made);
    expect((await aggregates.load(key, late.id)).status).toBe('revoked');
  });
});
