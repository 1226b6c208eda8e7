import { randomBytes } from 'node:crypto';
import { projections } from '../../projections/index.js';
import { findFullyCovered, ledgers } from '../../projections/ledgers.js';
import type { EventContext } from '../../projections/kit/projection.js';
import { sql } from '../../projections/kit/sql.js';
import { openDatabase, type Database } from '../../src/infrastructure/postgres/database.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { makeReadDbs } from '../../src/infrastructure/postgres/read-dbs.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { quiet } from '../support/quiet.js';

const kek = randomBytes(32);
let fresh: FreshDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  await migrate({ url: fresh.url, kek, projections, log: quiet });
  database = openDatabase({ url: fresh.url, kek, log: quiet });
  await database.system.run(
    sql`insert into users (id, owner_id, name, role, workspace_id, created_at) values ('ada', 'ada', 'Ada', 'member', 'ws_1', now())`,
  );
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

const context: EventContext = {
  ownerId: 'ada',
  at: '2026-01-01T00:00:00Z',
  position: 1n,
  stream: 'scratchpad_ledger-sp_1',
  revision: 0,
  eventId: 'event',
  actor: { type: 'user', id: 'ada' },
};

let pads = 0;
/** A ledger whose read model has followed these events, in this order, all in one generation but for those that say another. */
async function ledger(...events: readonly (readonly [string, Readonly<Record<string, unknown>>])[]): Promise<string> {
  const id = `sp_${(pads += 1)}`;
  await database.system.run(
    sql`insert into threads (id, owner_id, metadata, created_at, updated_at, position)
      values (${`thread_${pads}`}, 'ada', '{}', now(), now(), ${pads})`,
    sql`insert into scratchpads (id, owner_id, thread_id, metadata, content_revision, created_at, updated_at, position)
      values (${id}, 'ada', ${`thread_${pads}`}, '{}', 0, now(), now(), ${pads})`,
  );
  for (const [type, data] of events) {
    // As the projector calls it, with what the event says.
    const statements = ledgers.on[type]?.({ clears: 0, scratchpadId: id, ...data }, context) ?? [];
    await database.system.run(...[statements].flat());
  }
  return id;
}

const appended = (index: number, more = {}) => ['scratchpad.entry_appended', { index, ...more }] as const;
const lost = (from: number, to: number) => ['scratchpad.entries_lost', { from, to }] as const;
const repeated = (index: number) => ['scratchpad.entry_repeated', { index }] as const;
const cleared = ['scratchpad.entries_cleared', { clears: 1 }] as const;

/** The highest covered index, if all up to `length` are covered. */
const covered = async (scratchpadId: string, length: number, more: { generation?: number; ownerId?: string } = {}) =>
  (
    await findFullyCovered(makeReadDbs(database).system, [
      { ownerId: 'ada', generation: 0, ...more, scratchpadId, length },
    ])
  ).get(scratchpadId);

describe('a ledger, by its read model, is covered', () => {
  it('up to the end, in whatever order its events came, and some twice', async () => {
    const id = await ledger(appended(2), appended(1), appended(4), appended(2), appended(3));
    expect([await covered(id, 0), await covered(id, 3), await covered(id, 4), await covered(id, 5)]).toEqual([
      4,
      4,
      4,
      undefined,
    ]);
  });

  it('up to the first index that no event names', async () => {
    const id = await ledger(appended(1), appended(2), appended(4));
    expect([await covered(id, 2), await covered(id, 3), await covered(id, 4)]).toEqual([4, undefined, undefined]);
  });

  it('also where it holds nothing any more', async () => {
    const id = await ledger(appended(1), appended(5), lost(2, 3), repeated(4));
    expect([await covered(id, 5), await covered(id, 6)]).toEqual([5, undefined]);
  });

  it('since its last clear only', async () => {
    const id = await ledger(appended(1), appended(2), cleared, appended(1, { clears: 1 }));
    expect([
      await covered(id, 1, { generation: 1 }),
      await covered(id, 2, { generation: 1 }),
      await covered(id, 1),
    ]).toEqual([1, undefined, undefined]);
  });

  it('in a later generation before the clear that begins it is recorded', async () => {
    const id = await ledger(appended(1), appended(2), appended(1, { clears: 1 }), cleared);
    expect([await covered(id, 1, { generation: 1 }), await covered(id, 2, { generation: 1 })]).toEqual([1, undefined]);
  });

  it('by its owner', async () => {
    const id = await ledger(appended(1));
    expect([await covered(id, 1), await covered(id, 1, { ownerId: 'bob' })]).toEqual([1, undefined]);
  });
});
