import type { StoredEvent } from '../../src/application/ports/event-store.js';
import { CheckpointMoved, type ReactionJournal } from '../../src/application/ports/reaction-journal.js';
import { MemoryReactionJournal } from '../../src/infrastructure/memory/reaction-journal.js';
import { connectAlone } from '../../src/infrastructure/postgres/database.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { journalSession, PostgresReactionJournal } from '../../src/infrastructure/postgres/reaction-journal.js';
import { freshDatabase } from '../support/database.js';
import { quiet } from '../support/quiet.js';

interface Opened {
  readonly journal: ReactionJournal;
  readonly close: () => Promise<void>;
}

const eventAt = (position: bigint): StoredEvent => ({
  id: `00000000-0000-4000-8000-00000000000${position}`,
  type: 'thread.created',
  stream: `thread-${position}`,
  revision: 0,
  position,
  data: {},
  metadata: {},
});

async function onPostgres(): Promise<Opened> {
  const fresh = await freshDatabase();
  await migrate({ url: fresh.url, kek: Buffer.alloc(32, 1), projections: [], log: quiet });
  const client = await connectAlone(fresh.url, journalSession, quiet);
  return {
    journal: new PostgresReactionJournal(client),
    async close() {
      await client.end();
      await fresh.drop();
    },
  };
}

const inMemory = async (): Promise<Opened> => ({ journal: new MemoryReactionJournal(), close: async () => undefined });

describe.each([
  ['on Postgres', onPostgres],
  ['in memory', inMemory],
])('a reaction journal %s', (_, open) => {
  let journal: ReactionJournal;
  let close: Opened['close'];
  beforeEach(async () => {
    ({ journal, close } = await open());
  });
  afterEach(() => close());

  it('begins before the first event and remembers how far it came', async () => {
    await expect(journal.checkpoint()).resolves.toBe(-1n);
    await journal.advance(-1n, 7n);
    await expect(journal.checkpoint()).resolves.toBe(7n);
  });

  it('is not moved by a runner that does not know where it is', async () => {
    await journal.checkpoint();
    await journal.advance(-1n, 7n);
    await expect(journal.advance(-1n, 9n)).rejects.toBeInstanceOf(CheckpointMoved);
    await expect(journal.checkpoint()).resolves.toBe(7n);
  });

  it('lists what is parked once each, in the order of the log', async () => {
    await journal.park('one', eventAt(5n), 'TypeError');
    await journal.park('one', eventAt(3n), 'TypeError');
    await journal.park('one', eventAt(3n), 'RangeError');
    await journal.park('other', eventAt(4n), 'TypeError');
    const parked = await journal.parked();
    expect(parked.map(({ reaction, stream, revision }) => [reaction, stream, revision])).toEqual([
      ['one', 'thread-3', 0],
      ['other', 'thread-4', 0],
      ['one', 'thread-5', 0],
    ]);
    expect(parked.map(({ eventId }) => eventId)).toContain(eventAt(3n).id);
  });

  it('forgets what a reaction made up for, and nothing of another', async () => {
    await journal.park('one', eventAt(3n), 'TypeError');
    await journal.park('other', eventAt(3n), 'TypeError');
    await journal.unpark('one', eventAt(3n).id);
    expect((await journal.parked()).map(({ reaction }) => reaction)).toEqual(['other']);
  });
});
