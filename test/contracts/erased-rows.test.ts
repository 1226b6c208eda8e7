import { projections } from '../../projections/index.js';
import { sql } from '../../projections/kit/sql.js';
import type { DomainEvent } from '../../src/domain/kernel/aggregate.js';
import { MemoryEventStore } from '../../src/infrastructure/memory/event-store.js';
import { MemoryPersonalDataKeys } from '../../src/infrastructure/memory/personal-data-keys.js';
import { openDatabase, type Database } from '../../src/infrastructure/postgres/database.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { makeReadDbs } from '../../src/infrastructure/postgres/read-dbs.js';
import { followWatermark, type PostgresWatermark } from '../../src/infrastructure/postgres/watermark.js';
import { makeProjectionControl } from '../../src/infrastructure/projector/control.js';
import type { LeaderLease } from '../../src/infrastructure/postgres/leader-lease.js';
import { startProjector } from '../../src/infrastructure/projector/projector.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { quiet, uncounted } from '../support/quiet.js';
import { stored, threadCreated } from '../support/stored.js';

const kek = Buffer.alloc(32, 1);
const subjects = new MemoryPersonalDataKeys();
const events = new MemoryEventStore();
let fresh: FreshDatabase;
let database: Database;
let projector: LeaderLease;
let readModels: PostgresWatermark;

beforeAll(async () => {
  fresh = await freshDatabase();
  const { url } = fresh;
  await migrate({ url, kek, projections, log: quiet });
  database = openDatabase({ url, kek, log: quiet });
  projector = startProjector({ url, events, personalDataKeys: subjects, projections, log: quiet, metrics: uncounted });
  readModels = followWatermark(database, projections);
});
afterAll(async () => {
  await projector.close();
  await readModels.close();
  await database.close();
  await fresh.drop();
});

let count = 0;
async function tell(ownerId: string, ...history: readonly DomainEvent[]): Promise<void> {
  let position = 0n;
  for (const event of history) {
    const stream = `reported-${(count += 1)}`;
    ({ position } = await events.append(stream, 'none', [await stored(subjects, ownerId, event)]));
  }
  await expect(readModels.waitFor(position, 20_000)).resolves.toBe(true);
}

const created = (userId: string): DomainEvent => ({
  type: 'user.created',
  data: { userId, name: `${userId} by name`, role: 'member', workspaceId: `ws_${userId}`, keyId: 'key_0' },
});
const added = (workspaceId: string, userId: string): DomainEvent => ({
  type: 'workspace.member_added',
  data: { workspaceId, userId },
});

/** Everything that a user can have a row of, named after when it was made. */
function thingsOf(ownerId: string, when: string): readonly DomainEvent[] {
  const [workspaceId, keyId, credentialId] = [`ws_${when}`, `key_${when}`, `cred_${when}`];
  const [id, name, provider] = [`agent_${when}`, `${when} by name`, `provider-${when}`];
  return [
    threadCreated(`thread_${when}`, ownerId, name),
    { type: 'workspace.created', data: { workspaceId, name, ownerId } },
    {
      type: 'key.created',
      data: {
        keyId,
        userId: ownerId,
        workspaceId,
        role: 'member',
        name,
        scopes: ['threads:read'],
        secretHash: 'ab',
        display: 'plm_…',
        expiresAt: null,
      },
    },
    {
      type: 'agent.enrolled',
      data: {
        agentId: id,
        ownerId,
        harness: 'native',
        provider,
        model: 'm',
        name,
        persona: null,
        credentialMode: 'intake',
        credentialId,
        credentialVersionId: id,
        fence: {
          operation: 'agent.enroll',
          key: id,
          principal: ownerId,
          scope: `user:${ownerId}`,
          digest: 'ab',
          digestForm: 1,
          replayMode: 'actor-bound',
          outcome: id,
        },
      },
    },
  ];
}

/** Ids of an owner's rows, by table. */
async function rowsOf(ownerId: string) {
  const all = await makeReadDbs(database).system.rows(sql`
    select 'keys' as "table", id from keys where owner_id = ${ownerId}
    union all select 'workspaces', id from workspaces where owner_id = ${ownerId}
    union all select 'credentials', id from credentials where owner_id = ${ownerId}
    union all select 'threads', id from threads where owner_id = ${ownerId} order by 1, 2`);
  return all.map(({ table, id }) => `${String(table)} ${String(id)}`);
}

describe('the rows of a user who is erased', () => {
  it('go, none comes of what is stored around the erase, and a rebuild says the same', async () => {
    await tell('ann', created('ann'), ...thingsOf('ann', 'anns'));
    await tell('eve', created('eve'), ...thingsOf('eve', 'before'));
    await tell('ann', added('ws_anns', 'eve'));
    expect(await rowsOf('eve')).toEqual([
      'credentials cred_before',
      'keys key_before',
      'threads thread_before',
      'workspaces ws_anns',
      'workspaces ws_before',
    ]);
    const anns = await rowsOf('ann');

    await tell('eve', { type: 'user.erased', data: { userId: 'eve' } }, ...thingsOf('eve', 'after'));
    await tell('ann', added('ws_anns', 'eve'));
    expect(await rowsOf('eve')).toEqual([]);
    const control = makeProjectionControl(database.system, events, projections);
    for (const { name } of projections) await control.rebuild(name);
    expect([await rowsOf('eve'), await rowsOf('ann')]).toEqual([[], anns]);
    await expect(control.parked()).resolves.toEqual([]);
  });
});
