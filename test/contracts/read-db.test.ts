import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { Client } from 'pg';
import { sql } from '../../projections/kit/sql.js';
import { BackendUnavailable } from '../../src/application/faults/errors.js';
import type { ReadDbs } from '../../src/application/ports/read-models.js';
import { appRoleOf, appRoleUrl } from '../../src/infrastructure/postgres/app-role.js';
import { connectAlone, openDatabase, type Database } from '../../src/infrastructure/postgres/database.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { StatementFailed } from '../../src/infrastructure/postgres/pipeline.js';
import { makeReadDbs } from '../../src/infrastructure/postgres/read-dbs.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { quiet } from '../support/quiet.js';
import { notes, notesFolder, trail } from '../support/notes.js';

const kek = Buffer.alloc(32, 1);
const projections = [notes, trail];
const everything = sql`select id, owner_id as "ownerId" from notes order by id`;

let fresh: FreshDatabase;
let database: Database;
let dbs: ReadDbs;

const migrated = (url: string) => migrate({ url, kek, projections, log: quiet, folder: notesFolder });
const addNote = (id: string, ownerId: string) =>
  database.system.run(sql`
    insert into notes values (${id}, ${ownerId}, 'title', 9007199254740993, '2026-01-02T03:04:05.6Z', 7)`);

beforeAll(async () => {
  fresh = await freshDatabase();
  await migrated(fresh.url);
  database = openDatabase({ url: fresh.url, kek, log: quiet, appConnections: 2 });
  dbs = makeReadDbs(database);
  await addNote('a1', 'ann');
  await addNote('b1', 'bob');
});

afterAll(async () => {
  await database.close();
  await fresh.drop();
});

describe('a read', () => {
  it('sees the rows of its own tenant only', async () => {
    await expect(dbs.for('ann').rows(everything)).resolves.toEqual([{ id: 'a1', ownerId: 'ann' }]);
  });

  it('does not find another tenant’s row by its id', async () => {
    await expect(dbs.for('ann').rows(sql`select id from notes where id = ${'b1'}`)).resolves.toEqual([]);
  });

  it('sees nothing as nobody', async () => {
    await expect(dbs.for('').rows(everything)).resolves.toEqual([]);
  });

  it('sees every tenant’s rows as the system', async () => {
    await expect(dbs.system.rows(everything)).resolves.toHaveLength(2);
  });

  it('keeps tenants apart when 200 share two connections and some fail', async () => {
    const owners = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? 'ann' : 'bob'));
    const answers = await Promise.allSettled(
      owners.map((owner, index) =>
        dbs
          .for(owner)
          .rows(index % 7 === 0 ? sql`select 1 / 0 as broken` : sql`select owner_id as "ownerId" from notes`),
      ),
    );
    answers.forEach((answer, index) => {
      if (index % 7 === 0) expect(answer.status).toBe('rejected');
      else expect(answer).toEqual({ status: 'fulfilled', value: [{ ownerId: owners[index] }] });
    });
  });

  it('leaves no transaction open', async () => {
    await dbs.for('ann').rows(everything);
    const [open] = await dbs.system.rows(sql`
      select count(*) as n from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`);
    expect(open).toEqual({ n: '0' });
  });

  it('gives exact large numbers, timestamps with milliseconds in UTC, lists and objects', async () => {
    const [row] = await dbs.for('ann').rows(sql`
      select changes, changed_at, ${['a "b"', 'c\\', null]}::text[] as list, ${{ a: [1] }}::jsonb as object from notes`);
    expect(row).toEqual({
      changes: '9007199254740993',
      changed_at: '2026-01-02T03:04:05.600Z',
      list: ['a "b"', 'c\\', null],
      object: { a: [1] },
    });
  });

  it.each(['delete from notes', 'create table more (id text)', `update notes set title = ''`])(
    'cannot be used to write: %s',
    async (text) => {
      await expect(dbs.for('ann').rows({ text, values: [] })).rejects.toThrow();
    },
  );

  it('does not tell the failing row', async () => {
    const fault = await database.system
      .run(sql`insert into notes values ('a1', 'ann', 'secret title', 0, now(), 1)`)
      .catch((caught: unknown) => caught);
    expect(fault).toBeInstanceOf(StatementFailed);
    expect(inspect(fault, { showHidden: true })).not.toContain('secret');
  });

  it('refuses a value that cannot be written, and undoes the rest of its batch', async () => {
    await expect(database.system.run(sql`delete from notes`, sql`select ${() => 0} as nothing`)).rejects.toBeInstanceOf(
      StatementFailed,
    );
    await expect(dbs.system.rows(everything)).resolves.toHaveLength(2);
  });

  it('works again after the server closed every connection', async () => {
    await Promise.all([dbs.for('ann').rows(everything), dbs.for('bob').rows(everything)]);
    const outside = new Client({ connectionString: fresh.url });
    await outside.connect();
    await outside.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`);
    await outside.end();
    // A connection may be found dead by the first to use it; the ones after it are new.
    await Promise.allSettled([1, 2, 3].map(() => dbs.for('ann').rows(everything)));
    await expect(dbs.for('ann').rows(everything)).resolves.toHaveLength(1);
  });

  it('says that Postgres is unavailable when it is', async () => {
    const url = new URL(fresh.url);
    url.port = '1';
    const unreachable = openDatabase({ url: url.href, kek, log: quiet });
    await expect(makeReadDbs(unreachable).for('ann').rows(everything)).rejects.toBeInstanceOf(BackendUnavailable);
    await unreachable.close();
  });
});

describe('row-level security', () => {
  it('stands behind the helper: the app role without a tenant sees nothing', async () => {
    const bare = new Client({ connectionString: appRoleUrl(fresh.url, kek) });
    await bare.connect();
    await expect(bare.query('select * from read_models.notes')).resolves.toMatchObject({ rows: [] });
    await expect(bare.query('select * from palimpsest.subject_keys')).rejects.toMatchObject({ code: '42501' });
    await bare.end();
  });

  const role = () => appRoleOf(new URL(fresh.url).pathname.slice(1));
  const change = (text: string) => database.system.run({ text, values: [] });

  it.each<[what: string, done: (role: string) => string, undone: (role: string) => string, found: RegExp]>([
    [
      'a table that does not force it',
      () => 'alter table notes no force row level security',
      () => 'alter table notes force row level security',
      /the table read_models\.notes does not force row-level security/,
    ],
    [
      'a table that is not under it',
      () => 'alter table notes disable row level security',
      () => 'alter table notes enable row level security',
      /the table read_models\.notes is under no row-level security/,
    ],
    [
      'a second policy that permits',
      (app) => `create policy more on notes for select to ${app} using (true)`,
      () => 'drop policy more on notes',
      /the table read_models\.notes has the policy more \(permissive, command r, to \w+_app, using true/,
    ],
    [
      'an altered policy',
      () => 'alter policy tenant on notes using (true)',
      () => `alter policy tenant on notes using (owner_id = current_setting('palimpsest.owner', true))`,
      /has the policy tenant .* using true.*; the table read_models\.notes lacks the policy tenant/,
    ],
    [
      'a policy that is gone',
      () => 'drop policy tenant on read_models.key_usage',
      (app) =>
        `create policy tenant on read_models.key_usage for select to ${app} using (owner_id = current_setting('palimpsest.owner', true))`,
      /the table read_models\.key_usage lacks the policy tenant/,
    ],
    [
      'a table that the app role may write',
      (app) => `grant update on notes to ${app}`,
      (app) => `revoke update on notes from ${app}`,
      /_app has UPDATE on table read_models\.notes/,
    ],
    [
      'a column that it may write',
      (app) => `grant update (title) on notes to ${app}`,
      (app) => `revoke update (title) on notes from ${app}`,
      /_app has UPDATE on column read_models\.notes\.title/,
    ],
    [
      'a system table that the public may read',
      () => 'grant select on palimpsest.subject_keys to public',
      () => 'revoke select on palimpsest.subject_keys from public',
      /public has SELECT on table palimpsest\.subject_keys/,
    ],
    [
      'an app role that goes around it',
      (app) => `alter role ${app} bypassrls`,
      (app) => `alter role ${app} nobypassrls`,
      /the role \w+_app has BYPASSRLS/,
    ],
    [
      'an app role that is a member of another',
      (app) => `grant pg_read_all_data to ${app}`,
      (app) => `revoke pg_read_all_data from ${app}`,
      /_app is a member of pg_read_all_data/,
    ],
    [
      'an app role that comes with a tenant',
      (app) => `alter role ${app} set palimpsest.owner = 'ann'`,
      (app) => `alter role ${app} reset palimpsest.owner`,
      /_app comes with the setting palimpsest\.owner/,
    ],
  ])('stops the start at %s, and says what differs', async (_, done, undone, found) => {
    await change(done(role()));
    await expect(migrated(fresh.url)).rejects.toThrow(found);
    await change(undone(role()));
    await expect(migrated(fresh.url)).resolves.toBeUndefined();
  });

  it('needs an owner who may make roles only until the app role is there', async () => {
    const other = await freshDatabase();
    const [owner, name] = [`owner_${randomUUID().slice(0, 8)}`, new URL(other.url).pathname.slice(1)];
    const outside = new Client({ connectionString: other.url });
    await outside.connect();
    await outside.query(`create role ${owner} login createrole password 'secret'`);
    await outside.query(`alter database ${name} owner to ${owner}`);
    const url = new URL(other.url);
    [url.username, url.password] = [owner, 'secret'];
    await migrated(url.href);
    await outside.query(`alter role ${owner} nocreaterole`);
    await expect(migrated(url.href)).resolves.toBeUndefined();
    await outside.end();
    await other.drop();
  });

  it('stops the start when a read model has a table without an owner', async () => {
    const other = await freshDatabase();
    const ownerless = { ...notes, name: 'ownerless', schema: 'ownerless.sql', tables: ['ownerless'] };
    await expect(
      migrate({ url: other.url, kek, projections: [ownerless], log: quiet, folder: notesFolder }),
    ).rejects.toThrow('has no column "owner_id text not null"');
    await other.drop();
  });
});

describe('a database URL', () => {
  const { username, password, host, hostname, port } = new URL(process.env['TEST_DATABASE_URL'] ?? '');
  const inQuery = `user=${username}&password=${password}`;
  const forms: Readonly<Record<string, (name: string) => string>> = {
    'with its user in the query': (name) => `postgres://${host}${name}?${inQuery}`,
    'with a user in both places': (name) => `postgres://nobody:nothing@${host}${name}?${inQuery}`,
    'without a host': (name) => `postgres://${name}?host=${hostname}&port=${port}&${inQuery}`,
    'with options beside': (name) => `postgres://${username}:${password}@${host}${name}?application_name=a%20b`,
  };

  it.each(Object.entries(forms))('%s keeps tenants apart like any other', async (_, form) => {
    const url = form(new URL(fresh.url).pathname);
    await migrated(url);
    const opened = openDatabase({ url, kek, log: quiet, appConnections: 1 });
    const [ann] = await makeReadDbs(opened)
      .for('ann')
      .rows(sql`select current_user as "role", count(*) as n from notes`);
    expect(ann).toEqual({ role: appRoleOf(new URL(fresh.url).pathname.slice(1)), n: '1' });
    await opened.close();
  });

  it.each(['postgres://localhost', 'postgres:///?host=localhost', 'postgres://a b'])(
    'that does not say which database is refused in a line that names the variable: %s',
    (url) => expect(() => appRoleUrl(url, kek)).toThrow('DATABASE_URL must'),
  );

  it('that brings in somebody else than the app role is refused', async () => {
    const settings = { role: 'tenants_app' };
    await expect(connectAlone(fresh.url, settings, quiet)).rejects.toThrow('DATABASE_URL does not let the role');
  });

  it('whose server does not let the app role in stops the start', async () => {
    const other = await freshDatabase();
    await migrated(other.url);
    const role = appRoleOf(new URL(other.url).pathname.slice(1));
    await database.system.run({ text: `alter role ${role} valid until '2000-01-01'`, values: [] });
    await expect(migrated(other.url)).rejects.toThrow('DATABASE_URL does not let the role');
    await other.drop();
  });
});

describe('a database', () => {
  it('is brought up by many processes at once', async () => {
    const other = await freshDatabase();
    await expect(Promise.all([1, 2, 3, 4].map(() => migrated(other.url)))).resolves.toHaveLength(4);
    await other.drop();
  });
});
