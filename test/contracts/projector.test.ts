import { Client } from 'pg';
import { projection, type Projection } from '../../projections/kit/projection.js';
import { sql } from '../../projections/kit/sql.js';
import { digestOf } from '../../src/application/kernel/canonical-json.js';
import type { EventStore } from '../../src/application/ports/event-store.js';
import { MemoryEventStore } from '../../src/infrastructure/memory/event-store.js';
import { MemoryPersonalDataKeys } from '../../src/infrastructure/memory/personal-data-keys.js';
import { openDatabase, type Database } from '../../src/infrastructure/postgres/database.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { makeReadDbs } from '../../src/infrastructure/postgres/read-dbs.js';
import { followWatermark, type PostgresWatermark } from '../../src/infrastructure/postgres/watermark.js';
import { makeProjectionControl, type PostgresProjectionControl } from '../../src/infrastructure/projector/control.js';
import type { LeaderLease } from '../../src/infrastructure/postgres/leader-lease.js';
import { startProjector } from '../../src/infrastructure/projector/projector.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { notes, notesFolder, trail } from '../support/notes.js';
import { quiet, uncounted } from '../support/quiet.js';
import { stored, threadCreated, threadDeleted, threadUpdated } from '../support/stored.js';
import { eventually } from '../support/eventually.js';

const kek = Buffer.alloc(32, 1);
const personalDataKeys = new MemoryPersonalDataKeys();

let fresh: FreshDatabase;
let database: Database;
let events: MemoryEventStore;
let control: PostgresProjectionControl;
let readModels: PostgresWatermark;
const running: LeaderLease[] = [];

const project = (projections: readonly Projection[] = [notes, trail], log: EventStore = events): LeaderLease => {
  const needs = { url: fresh.url, events: log, personalDataKeys, projections, log: quiet, metrics: uncounted };
  const projector = startProjector({ ...needs, folder: notesFolder, batchSize: 50 });
  running.push(projector);
  return projector;
};
const migrated = (projections: readonly Projection[] = [notes, trail]) =>
  migrate({ url: fresh.url, kek, projections, log: quiet, folder: notesFolder });

/** Stores events one after the other on a stream and answers the position of the last. */
async function append(stream: string, ownerId: string, ...history: Parameters<typeof stored>[2][]): Promise<bigint> {
  let position = 0n;
  for (const event of history) {
    ({ position } = await events.append(stream, 'any', [await stored(personalDataKeys, ownerId, event)]));
  }
  return position;
}

const createNotes = async (count: number, from = 1): Promise<bigint> => {
  let position = 0n;
  for (let n = from; n < from + count; n += 1) {
    position = await append(`thread-${n}`, n % 2 === 0 ? 'ann' : 'bob', threadCreated(`note-${n}`, 'ann'));
  }
  return position;
};

const created: NonNullable<Projection['on'][string]> = (data, context) =>
  notes.on['thread.created']?.(data, context) ?? [];

const reached = async (position: bigint) => {
  await expect(readModels.waitFor(position, 20_000)).resolves.toBe(true);
};
const rows = async (query: ReturnType<typeof sql>) => makeReadDbs(database).system.rows(query);
const allNotes = () => rows(sql`select id, owner_id, title, changes, position from notes order by position`);
const allTrail = () => rows(sql`select * from trail order by position`);
const parked = async () => (await control.parked()).map(({ projection: name, stream, fault }) => [name, stream, fault]);

beforeEach(async () => {
  fresh = await freshDatabase();
  await migrated();
  database = openDatabase({ url: fresh.url, kek, log: quiet });
  events = new MemoryEventStore();
  control = makeProjectionControl(database.system, events, [notes, trail]);
  readModels = followWatermark(database, [notes, trail]);
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((projector) => projector.close()));
  await readModels.close();
  await database.close();
  await fresh.drop();
});

describe('the projector', () => {
  it('brings what was stored before it started into rows, and what comes after', async () => {
    await createNotes(120);
    project();
    await reached(await createNotes(5, 121));
    expect((await allNotes()).map(({ id }) => id)).toEqual(Array.from({ length: 125 }, (_, n) => `note-${n + 1}`));
  });

  it('opens personal text, and gives handlers the event’s own circumstances', async () => {
    project();
    const position = await append('thread-1', 'ann', threadCreated('note-1', 'ann', 'Ünïcode'));
    await reached(position);
    await expect(allNotes()).resolves.toEqual([
      { id: 'note-1', owner_id: 'ann', title: 'Ünïcode', changes: '0', position: position.toString() },
    ]);
  });

  it('shows read models of everything each event as it is stored, with its digest', async () => {
    project();
    await reached(await append('thread-1', 'ann', threadCreated('note-1', 'ann')));
    const [event] = await events.readStream('thread-1');
    await expect(allTrail()).resolves.toMatchObject([
      { event_id: event?.id, revision: '0', digest: digestOf([event?.data, event?.metadata]) },
    ]);
  });

  it('goes on from its checkpoint after a stop, applying nothing twice', async () => {
    const first = project();
    await reached(await append('thread-1', 'ann', threadCreated('note-1', 'ann'), threadUpdated('note-1', 'a')));
    await first.close();
    await append('thread-1', 'ann', threadUpdated('note-1', 'b'));
    project();
    await reached(await append('thread-1', 'ann', threadUpdated('note-1', 'c')));
    await expect(allNotes()).resolves.toMatchObject([{ title: 'c', changes: '3' }]);
  });

  it('is one among several, and another takes over when it ends', async () => {
    const projectors = [project(), project(), project()];
    await reached(await createNotes(1));
    const active = await eventually(
      () => projectors.filter((one) => one.active),
      ({ length }) => length > 0,
    );
    expect(active).toHaveLength(1);
    await active[0]?.close();
    await reached(await createNotes(5, 2));
    await expect(allNotes()).resolves.toHaveLength(6);
  });

  it('goes on by itself after Postgres ended all its connections', async () => {
    project();
    await reached(await createNotes(10));
    const outside = new Client({ connectionString: fresh.url });
    await outside.connect();
    for (let round = 1; round <= 5; round += 1) {
      const position = await createNotes(20, round * 20);
      await outside.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`);
      await eventually(() => readModels.waitFor(position, 1_000), Boolean);
    }
    await outside.end();
    await expect(allTrail()).resolves.toHaveLength(110);
    await expect(parked()).resolves.toEqual([]);
  });

  it('writes nothing once another has moved the checkpoint', async () => {
    project();
    await reached(await createNotes(3));
    await database.system.run(sql`update palimpsest.projections set position = 1000000`);
    await append('thread-9', 'ann', threadCreated('note-9', 'ann'));
    await eventually(
      () => running[0]?.active,
      (active) => active === false,
    );
    await expect(allNotes()).resolves.toHaveLength(3);
  });
});

describe('a position', () => {
  it('is reached when its rows can be read, in a process without the projector too', async () => {
    const elsewhere = followWatermark(database, [notes, trail]);
    project();
    for (let n = 1; n <= 20; n += 1) {
      const position = await createNotes(1, n);
      await expect(elsewhere.waitFor(position, 20_000)).resolves.toBe(true);
      await expect(allNotes()).resolves.toHaveLength(n);
    }
    await elsewhere.close();
  });

  it('is not reached while nothing projects it', async () => {
    await expect(readModels.waitFor(await createNotes(1), 50)).resolves.toBe(false);
  });

  it('is not reached when its rows were lost by a crash, though they were seen before', async () => {
    const projector = project();
    const position = await createNotes(3);
    await reached(position);
    await projector.close();
    await database.system.run(sql`update palimpsest.projections set position = 64`);
    const outside = new Client({ connectionString: fresh.url });
    await outside.connect();
    await outside.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`);
    await outside.end();
    await eventually(
      () => readModels.waitFor(position, 0),
      (is) => !is,
    );
    await expect(readModels.waitFor(position, 200)).resolves.toBe(false);
  });
});

describe('an event that a read model cannot follow', () => {
  /** Fails in Postgres: text cannot hold U+0000. */
  const withNul = (id: string) => threadCreated(id, 'ann', 'a\u0000b');

  it('parks its stream, and the other 99 of its batch go on', async () => {
    for (let n = 1; n <= 100; n += 1) {
      await append(`thread-${n}`, 'ann', n === 50 ? withNul('note-50') : threadCreated(`note-${n}`, 'ann'));
    }
    project();
    await reached(await append('thread-101', 'ann', threadCreated('note-101', 'ann')));
    await expect(allNotes()).resolves.toHaveLength(100);
    await expect(parked()).resolves.toEqual([['notes', 'thread-50', 'sqlstate 22021']]);
  });

  it('holds back the later events of its stream for that read model only', async () => {
    project();
    await reached(await append('thread-1', 'ann', withNul('note-1'), threadUpdated('note-1', 'later')));
    await expect(allNotes()).resolves.toEqual([]);
    await expect(allTrail()).resolves.toHaveLength(2);
  });

  it('is one of a type from the future, too', async () => {
    const future = await stored(personalDataKeys, 'ann', threadCreated('note-1', 'ann'));
    await events.append('thread-1', 'none', [{ ...future, type: 'thread.sublimated' }]);
    project();
    await reached(await createNotes(3, 2));
    await expect(allNotes()).resolves.toHaveLength(3);
    await expect(parked()).resolves.toEqual([['notes', 'thread-1', 'Undecodable']]);
  });

  it('is one without an owner, too, where the read model is of everything', async () => {
    await events.append('research-1', 'none', [
      { id: '6c3a0b4e-1d3f-4c52-9d83-7a2b1c0d9e8f', type: 'OrderPlaced', data: { n: 1 }, metadata: {} },
    ]);
    project();
    await reached(await createNotes(3));
    await expect(allNotes()).resolves.toHaveLength(3);
    await expect(parked()).resolves.toEqual([['trail', 'research-1', 'Foreign']]);
  });

  it('is not one of another application: it is skipped, counted, and no read model shows it', async () => {
    const foreign = { id: '6c3a0b4e-1d3f-4c52-9d83-7a2b1c0d9e8f', type: 'OrderPlaced', data: { n: 1 }, metadata: {} };
    await events.append('orders-1', 'none', [foreign]);
    const count = jest.spyOn(uncounted, 'count');
    project();
    await reached(await createNotes(3));
    expect(count.mock.calls).toContainEqual(['palimpsest_foreign_events_total']);
    count.mockRestore();
    await expect(allTrail()).resolves.toHaveLength(3);
    await expect(parked()).resolves.toEqual([]);
  });

  it('does not count as followed: the status shows it', async () => {
    project();
    await reached(await append('thread-1', 'ann', withNul('note-1')));
    await expect(control.list()).resolves.toMatchObject([
      { name: 'notes', lag: 0, parked: 1, rebuilding: false },
      { name: 'trail', lag: 0, parked: 0, rebuilding: false },
    ]);
  });

  /** The same read model, after its authors found the mistake. */
  const mended: Projection = {
    ...notes,
    on: {
      ...notes.on,
      'thread.created': (data, context) =>
        created({ ...data, title: String(data['title']).replaceAll('\u0000', '') }, context),
    },
  };

  it('is followed after the fix, with what came after it, in order', async () => {
    const before = project();
    await reached(
      await append('thread-1', 'ann', withNul('note-1'), threadUpdated('note-1', 'x'), threadUpdated('note-1', 'y')),
    );
    await before.close();
    project([mended, trail]);
    await reached(await append('thread-1', 'ann', threadUpdated('note-1', 'z')));
    await eventually(parked, ({ length }) => length === 0);
    await expect(allNotes()).resolves.toMatchObject([{ id: 'note-1', title: 'z', changes: '3' }]);
  });

  it('is tried again on request, and stays parked while it still fails', async () => {
    project();
    await reached(await append('thread-1', 'ann', threadCreated('note-1', 'ann'), withNul('note-2')));
    await expect(control.retryParked('notes')).resolves.toBe(true);
    await expect(parked()).resolves.toEqual([['notes', 'thread-1', 'sqlstate 22021']]);
  });

  it('is followed on request once what it needs is there', async () => {
    await database.system.run(sql`alter table notes rename column changes to altered`);
    project();
    await reached(await append('thread-1', 'ann', threadCreated('note-1', 'ann'), threadUpdated('note-1', 'x')));
    await expect(parked()).resolves.toEqual([['notes', 'thread-1', 'sqlstate 42703']]);
    await database.system.run(sql`alter table notes rename column altered to changes`);
    await control.retryParked('notes');
    await expect(parked()).resolves.toEqual([]);
    await expect(allNotes()).resolves.toMatchObject([{ title: 'x', changes: '1' }]);
  });
});

describe('the lag of a read model', () => {
  it('is counted in events, up to a thousand, whatever is between their positions', async () => {
    const lags = async () => (await control.list()).map(({ name, lag }) => [name, lag]);
    await createNotes(250);
    await expect(lags()).resolves.toEqual(Object.entries({ notes: 250, trail: 250 }));
    await createNotes(800, 251);
    await expect(lags()).resolves.toEqual(Object.entries({ notes: 1_000, trail: 1_000 }));
    project();
    await reached(await createNotes(1, 1_051));
    await expect(lags()).resolves.toEqual(Object.entries({ notes: 0, trail: 0 }));
  });
});

describe('a rebuild', () => {
  it('gives the same rows again, and forgets no deletion', async () => {
    project();
    await createNotes(200);
    await reached(await append('thread-7', 'ann', threadUpdated('note-7', 'changed'), threadDeleted('note-8')));
    const before = await allNotes();
    await database.system.run(sql`update notes set title = 'damaged'`);
    const rebuilt = await control.rebuild('notes');
    expect(rebuilt).toMatchObject({ name: 'notes', events: 202, position: (await events.headPosition()).toString() });
    await expect(allNotes()).resolves.toEqual(before);
  });

  it('answers nothing for a read model that there is not', async () => {
    await expect(control.rebuild('nothing')).resolves.toBeUndefined();
  });

  it('is never seen by readers: no row is ever missing or older, while commands go on', async () => {
    project();
    await reached(await createNotes(300));
    const done = new AbortController();
    let seen = 300;
    const reading = (async () => {
      while (!done.signal.aborted) {
        const [row] = await makeReadDbs(database).system.rows(sql`select count(*) as n from notes`);
        expect(Number(row?.['n'])).toBeGreaterThanOrEqual(seen);
        seen = Number(row?.['n']);
      }
    })();
    const writing = (async () => {
      let n = 301;
      while (!done.signal.aborted) await reached(await createNotes(1, n++));
      return n - 1;
    })();
    for (let round = 1; round <= 4; round += 1) await control.rebuild('notes');
    done.abort();
    const [, written] = await Promise.all([reading, writing]);
    await expect(allNotes()).resolves.toHaveLength(written);
  });

  it('keeps tenants apart before, while and after', async () => {
    project();
    await reached(await createNotes(10));
    await control.rebuild('notes');
    const anns = await makeReadDbs(database)
      .for('ann')
      .rows(sql`select distinct owner_id from notes`);
    expect(anns).toEqual([{ owner_id: 'ann' }]);
    await expect(migrated()).resolves.toBeUndefined();
  });

  it('ends although an event cannot be followed, and lists its stream', async () => {
    project();
    await append('thread-1', 'ann', threadCreated('note-1', 'ann', 'a\u0000b'));
    await reached(await createNotes(60, 2));
    await control.rebuild('notes');
    await expect(allNotes()).resolves.toHaveLength(60);
    await expect(parked()).resolves.toEqual([['notes', 'thread-1', 'sqlstate 22021']]);
  });

  it('happens by itself when a read model has changed', async () => {
    const before = project();
    await reached(await createNotes(5));
    await before.close();
    const shouting: Projection = {
      ...notes,
      on: {
        ...notes.on,
        'thread.created': (data, context) => created({ ...data, title: String(data['title']).toUpperCase() }, context),
      },
    };
    await migrated([shouting, trail]);
    project([shouting, trail]);
    await eventually(allNotes, ([first]) => first?.['title'] === 'TITLE OF NOTE-1');
    await reached(await createNotes(1, 6));
    await expect(allNotes()).resolves.toHaveLength(6);
  });

  it('fills a read model that was added later', async () => {
    const before = project();
    await reached(await createNotes(5));
    await before.close();
    const titles = projection({ ...notes, name: 'titles', schema: 'titles.sql', tables: ['titles'], on: titleRows });
    await migrated([notes, trail, titles]);
    project([notes, trail, titles]);
    const all = followWatermark(database, [notes, trail, titles]);
    await expect(all.waitFor(await createNotes(1, 6), 20_000)).resolves.toBe(true);
    await all.close();
    await expect(rows(sql`select id from titles`)).resolves.toHaveLength(6);
  });

  const titleRows: Projection['on'] = {
    'thread.created': ({ threadId }, { ownerId }) =>
      sql`insert into titles values (${threadId}, ${ownerId}) on conflict do nothing`,
  };
});
