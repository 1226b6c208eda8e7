import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projections } from '../../projections/index.js';
import { sql } from '../../projections/kit/sql.js';
import type { DomainEvent } from '../../src/domain/kernel/aggregate.js';
import { openDatabase, type Database } from '../../src/infrastructure/postgres/database.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { makePersonalDataKeys } from '../../src/infrastructure/postgres/personal-data-keys.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { quiet } from '../support/quiet.js';
import { stored, threadCreated, threadDeleted, threadUpdated } from '../support/stored.js';

const kek = Buffer.alloc(32, 1);
const owners = ['ann', 'bob', 'cleo'];
const threads = 400;
const kills = 20;

const folder = mkdtempSync(join(tmpdir(), 'palimpsest-history-'));
const historyFile = join(folder, 'history.json');

let fresh: FreshDatabase;
let database: Database;

/** Threads that are made, renamed four times, and every fifth deleted. */
function* history(): Generator<{ stream: string; ownerId: string; event: DomainEvent }> {
  for (const ownerId of owners) {
    const data = { userId: ownerId, name: ownerId, role: 'member', workspaceId: 'ws_1', keyId: 'key_1' };
    yield { stream: `user-${ownerId}`, ownerId, event: { type: 'user.created', data } };
  }
  for (let round = 0; round < 6; round += 1) {
    for (let n = 0; n < threads; n += 1) {
      const ownerId = String(owners[n % owners.length]);
      const event = round === 0 ? threadCreated(`t${n}`, ownerId) : threadUpdated(`t${n}`, `name ${round}`);
      if (round < 5) yield { stream: `thread-t${n}`, ownerId, event };
      else if (n % 5 === 0) yield { stream: `thread-t${n}`, ownerId, event: threadDeleted(`t${n}`) };
    }
  }
}

const startProcess = (batchSize: number): ChildProcess =>
  spawn(
    process.execPath,
    [join(__dirname, '../support/projector-process.cjs'), fresh.url, historyFile, String(batchSize)],
    { stdio: 'inherit' },
  );

async function position(): Promise<bigint> {
  const [outcome] = await database.system.run(
    sql`select min(position) as position, count(distinct position) as different from palimpsest.projections`,
  );
  expect(outcome?.rows[0]?.['different']).toBe('1');
  return BigInt(String(outcome?.rows[0]?.['position']));
}

/** One number for everything that all read models say. */
async function digest(): Promise<readonly unknown[]> {
  const digests = [];
  for (const table of projections.flatMap(({ tables }) => tables)) {
    const text = `select count(*) as rows, md5(string_agg(t::text, '|' order by t::text)) as digest from ${table} t`;
    const [outcome] = await database.system.run({ text, values: [] });
    digests.push({ table, ...outcome?.rows[0] });
  }
  return digests;
}

const projectAll = (head: bigint) => eventually(position, (at) => at === head, 60_000);

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function newDatabase(): Promise<void> {
  fresh = await freshDatabase();
  await migrate({ url: fresh.url, kek, projections, log: quiet });
  database = openDatabase({ url: fresh.url, kek, log: quiet });
}

async function dropDatabase(): Promise<void> {
  await database.close();
  await fresh.drop();
}

afterAll(() => rmSync(folder, { recursive: true }));

describe('projectors that are killed again and again', () => {
  it('leave the rows that one undisturbed projector makes', async () => {
    await newDatabase();
    const subjects = makePersonalDataKeys(database.system, kek);
    const events = [];
    for (const { stream, ownerId, event } of history()) {
      events.push({ stream, event: await stored(subjects, ownerId, event) });
    }
    writeFileSync(historyFile, JSON.stringify(events));
    const head = BigInt(events.length) * 64n;

    let killed = 0;
    let before = await position();
    while (killed < kills && before < head) {
      // Two at a time: one stands by, and takes over while the next pair is on its way.
      const pair = [startProcess(7), startProcess(7)];
      for (const child of pair) {
        const from = before;
        before = await eventually(position, (at) => at > from || at === head);
        await end(child);
        killed += 1;
      }
    }
    expect(killed).toBeGreaterThanOrEqual(6);
    const last = startProcess(500);
    await projectAll(head);
    await end(last);
    const [parked] = await database.system.run(sql`select stream, fault from palimpsest.parked_streams`);
    expect(parked?.rows).toEqual([]);
    const after = await digest();

    // The undisturbed one starts from nothing, with the same data keys.
    await database.system.run(
      { text: `truncate ${projections.flatMap(({ tables }) => tables).join(', ')}`, values: [] },
      sql`update palimpsest.projections set position = -1`,
    );
    const undisturbed = startProcess(500);
    await projectAll(head);
    await end(undisturbed);
    await expect(digest()).resolves.toEqual(after);
    await dropDatabase();
  }, 180_000);
});
