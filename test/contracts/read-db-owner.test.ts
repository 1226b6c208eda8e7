import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { projections } from '../../projections/index.js';
import { sql } from '../../projections/kit/sql.js';
import { MemoryEventStore } from '../../src/infrastructure/memory/event-store.js';
import { MemoryPersonalDataKeys } from '../../src/infrastructure/memory/personal-data-keys.js';
import { openDatabase } from '../../src/infrastructure/postgres/database.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { makeReadDbs } from '../../src/infrastructure/postgres/read-dbs.js';
import { followWatermark } from '../../src/infrastructure/postgres/watermark.js';
import { makeProjectionControl } from '../../src/infrastructure/projector/control.js';
import { startProjector } from '../../src/infrastructure/projector/projector.js';
import { freshDatabase } from '../support/database.js';
import { quiet, uncounted } from '../support/quiet.js';
import { stored, threadCreated, threadDeleted } from '../support/stored.js';

const kek = Buffer.alloc(32, 1);

/** A database whose owner is an ordinary user, as a team's own server gives one. */
async function ordinaryDatabase(rights: string) {
  const fresh = await freshDatabase();
  const owner = `owner_${randomBytes(4).toString('hex')}`;
  const url = new URL(fresh.url);
  const server = new Client({ connectionString: fresh.url });
  await server.connect();
  await server.query(`create role ${owner} login password 'own' ${rights}`);
  await server.query(`alter database ${url.pathname.slice(1)} owner to ${owner}`);
  url.username = owner;
  url.password = 'own';
  return {
    url: url.href,
    async drop() {
      await server.query(`drop owned by ${owner} cascade`).catch(() => undefined);
      await server.end();
      await fresh.drop();
      const again = new Client({ connectionString: process.env['TEST_DATABASE_URL'] });
      await again.connect();
      await again.query(`drop role ${owner}`);
      await again.end();
    },
  };
}

describe('an owner who is no superuser', () => {
  it('is enough: every read model is filled, emptied, rebuilt and kept apart by tenant', async () => {
    const ordinary = await ordinaryDatabase('createrole');
    const { url } = ordinary;
    const subjects = new MemoryPersonalDataKeys();
    const events = new MemoryEventStore();
    await migrate({ url, kek, projections, log: quiet });
    await migrate({ url, kek, projections, log: quiet });
    const database = openDatabase({ url, kek, log: quiet });
    const projector = startProjector({
      url,
      events,
      personalDataKeys: subjects,
      projections,
      log: quiet,
      metrics: uncounted,
    });
    const readModels = followWatermark(database, projections);
    const control = makeProjectionControl(database.system, events, projections);

    const user = { userId: 'ann', name: 'Ann', role: 'member', workspaceId: 'ws_1', keyId: 'key_1' };
    const history = [{ type: 'user.created', data: user }, threadCreated('t1', 'ann'), threadCreated('t2', 'ann')];
    let position = 0n;
    for (const event of [...history, threadDeleted('t2')]) {
      ({ position } = await events.append('thread-all', 'any', [await stored(subjects, 'ann', event)]));
    }
    await expect(readModels.waitFor(position, 20_000)).resolves.toBe(true);
    for (const { name } of projections) await control.rebuild(name);
    await expect(control.parked()).resolves.toEqual([]);
    const threads = sql`select id from threads`;
    await expect(makeReadDbs(database).for('ann').rows(threads)).resolves.toEqual([{ id: 't1' }]);
    await expect(makeReadDbs(database).for('bob').rows(threads)).resolves.toEqual([]);
    await expect(makeReadDbs(database).system.rows(threads)).resolves.toEqual([{ id: 't1' }]);

    await projector.close();
    await readModels.close();
    await database.close();
    await ordinary.drop();
  });

  it('is reported in one line when they may not make roles', async () => {
    const ordinary = await ordinaryDatabase('nocreaterole');
    const { url } = ordinary;
    await expect(migrate({ url, kek, projections, log: quiet })).rejects.toThrow('may not make the roles');
    await ordinary.drop();
  });
});
