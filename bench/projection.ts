import { randomUUID } from 'node:crypto';
import { deferrable, projections } from '../projections/index.js';
import { sql } from '../projections/kit/sql.js';
import { encode } from '../src/application/event-sourcing/codec.js';
import type { DomainEvent } from '../src/domain/kernel/aggregate.js';
import { MemoryEventStore } from '../src/infrastructure/memory/event-store.js';
import { openDatabase, type Database } from '../src/infrastructure/postgres/database.js';
import { migrate } from '../src/infrastructure/postgres/migrate.js';
import { runTogether } from '../src/infrastructure/postgres/pipeline.js';
import { followWatermark } from '../src/infrastructure/postgres/watermark.js';
import { makePersonalDataKeys } from '../src/infrastructure/postgres/personal-data-keys.js';
import { startProjector } from '../src/infrastructure/projector/projector.js';
import { freshDatabase } from '../test/support/database.js';
import { quiet, uncounted } from '../test/support/quiet.js';

const kek = Buffer.alloc(32, 1);
const owners = 50;
const threads = 2_000;
const messages = 20_000;
const singles = 200;

/**
 * How fast the read models take in a history, all of them together, and how long after an append its rows can be read.
 * The log is in memory, so that the projector and Postgres are what is measured.
 */
async function main(): Promise<void> {
  const fresh = await freshDatabase();
  await migrate({ url: fresh.url, kek, projections, log: quiet });
  const database = openDatabase({ url: fresh.url, kek, log: quiet });
  const personalDataKeys = makePersonalDataKeys(database.system, kek);
  const events = new MemoryEventStore();
  const readModels = followWatermark(database, projections);

  async function append(ownerId: string, stream: string, event: DomainEvent): Promise<bigint> {
    const metadata = {
      $correlationId: randomUUID(),
      ownerId,
      actor: { type: 'user' as const, id: ownerId },
      at: new Date().toISOString(),
    };
    const made = encode(randomUUID(), event, metadata, await personalDataKeys.sealingKey(ownerId));
    return (await events.append(stream, 'any', [made])).position;
  }

  const message = (n: number) => {
    const owner = `user_${n % owners}`;
    return append(owner, `thread-t${n % threads}`, {
      type: 'message.appended',
      data: {
        threadId: `t${n % threads}`,
        messageId: `m${n}`,
        index: n,
        role: 'user',
        content: 'A message of the usual length, as people write them to an agent and agents to each other.',
        author: { type: 'key', id: 'key_1' },
      },
    });
  };

  for (let n = 0; n < owners; n += 1) {
    await append(`user_${n}`, `user-user_${n}`, {
      type: 'user.created',
      data: { userId: `user_${n}`, name: `User ${n}`, role: 'member', workspaceId: `ws_${n}`, keyId: `key_${n}` },
    });
  }
  for (let n = 0; n < threads; n += 1) {
    await append(`user_${n % owners}`, `thread-t${n}`, {
      type: 'thread.created',
      data: { threadId: `t${n}`, ownerId: `user_${n % owners}`, title: `Thread ${n}`, metadata: {} },
    });
  }
  let head = 0n;
  for (let n = 0; n < messages; n += 1) head = await message(n);

  const total = owners + threads + messages;
  const floor = await plainInserts(database, total);
  const began = performance.now();
  const usedBefore = process.cpuUsage();
  const projector = startProjector({
    url: fresh.url,
    events,
    personalDataKeys,
    projections,
    deferrable,
    log: { ...quiet, error: (fields, text) => console.error(text, fields) },
    metrics: uncounted,
  });
  if (!(await readModels.waitFor(head, 120_000))) throw new Error('The read models did not get there.');
  const seconds = (performance.now() - began) / 1000;
  const used = process.cpuUsage(usedBefore);
  const rate = total / seconds;
  const processor = Math.round((used.user + used.system) / total);
  console.log(
    `catch-up: ${total} events into ${projections.length} read models, ${Math.round(rate)} events/s, ` +
      `${(rate / floor).toFixed(2)} x as many plain rows (${Math.round(floor)}/s); ${processor} us of this process per event`,
  );

  const waits: number[] = [];
  for (let n = 0; n < singles; n += 1) {
    const position = await message(messages + n);
    const appended = performance.now();
    await readModels.waitFor(position, 5_000);
    waits.push(performance.now() - appended);
  }
  waits.sort((a, b) => a - b);
  const at = (share: number) => waits[Math.floor(waits.length * share)]?.toFixed(2);
  console.log(`append to readable: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);

  await projector.close();
  await readModels.close();
  await database.close();
  await fresh.drop();
}

/** Rows per second, when all there is to do is one small insert each, sent in the same way. */
async function plainInserts(database: Database, count: number): Promise<number> {
  await database.system.run(sql`create table palimpsest.plain (id bigint primary key, owner_id text, words text)`);
  const client = await database.connect({ schema: 'palimpsest', durable: false });
  const began = performance.now();
  for (let from = 0; from < count; from += 500) {
    const rows = Array.from({ length: Math.min(500, count - from) }, (_, n) => from + n);
    await runTogether(
      client,
      rows.map(
        (n) => sql`insert into plain values (${n}, ${`user_${n % owners}`}, ${'A message of the usual length.'})`,
      ),
      30_000,
    );
  }
  const rate = count / ((performance.now() - began) / 1000);
  await client.end();
  return rate;
}

void main();
