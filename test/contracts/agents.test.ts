import { randomBytes, randomUUID } from 'node:crypto';
import { projections } from '../../projections/index.js';
import { sql } from '../../projections/kit/sql.js';
import { openDatabase, type Database } from '../../src/infrastructure/postgres/database.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { makeReadDbs } from '../../src/infrastructure/postgres/read-dbs.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { dataOf, memberOf, memoryApp, refusalOf, type MemoryApp } from '../support/memory-app.js';
import { quiet } from '../support/quiet.js';

const kek = randomBytes(32);
let fresh: FreshDatabase;
let database: Database;
let app: MemoryApp;
let ada: { readonly id: string; readonly key: string };
beforeAll(async () => {
  fresh = await freshDatabase();
  await migrate({ url: fresh.url, kek, projections, log: quiet });
  database = openDatabase({ url: fresh.url, kek, log: quiet });
  app = await memoryApp({ dbs: makeReadDbs(database) });
  ada = await memberOf(app, 'Ada');
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

const [legacy, enrolled] = [randomUUID(), randomUUID()];

describe('an agent that was never enrolled', () => {
  beforeAll(() =>
    database.system.run(sql`
      insert into agents (id, owner_id, name, harness, provider, model, credential_mode, enrolled_at, position) values
        (${legacy}, ${ada.id}, 'Old', null, 'anthropic', 'anthropic/m', null, null, 1),
        (${enrolled}, ${ada.id}, 'New', 'native', 'anthropic', 'anthropic/m', 'intake', now(), 2)`),
  );

  it('is in the registry, with no harness and no time of enrollment', async () => {
    const agents = dataOf<readonly unknown[]>(await app.call(ada.key, 'agent.list', { order: 'asc' }));
    expect(agents).toEqual([
      expect.objectContaining({ id: legacy, harness: null, credentialMode: null, enrolledAt: null }),
      expect.objectContaining({ id: enrolled, harness: 'native', enrolledAt: expect.any(String) as string }),
    ]);
  });

  it('has no enrollment: it is not found, by its owner or by an administrator, like one that is not there', async () => {
    const get = (key: string, agentId: string) => app.call(key, 'agent.enrollment.get', { agentId });
    expect(refusalOf(await get(ada.key, enrolled))).toBe('ok');
    for (const key of [ada.key, app.adminKey]) {
      const reply = await get(key, legacy);
      expect(refusalOf(reply)).toBe('not_found');
      expect(reply.result).toEqual((await get(key, randomUUID())).result);
    }
  });
});
