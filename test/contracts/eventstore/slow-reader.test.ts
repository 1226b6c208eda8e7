import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { freshStream, Listener } from './conformance/support.js';
import { storeOnFreshDatabase, type StoreOnDatabase } from './database.js';

/** Together more than is kept in memory for those who follow closely. */
const APPENDS_PER_PAUSE = 320;
const TEXT = 'x'.repeat(60_000);

describe('who reads a stream more slowly than others write to it', () => {
  let running: StoreOnDatabase;
  let writer: EventStoreDBClient;
  let reader: EventStoreDBClient;
  beforeAll(async () => {
    running = await storeOnFreshDatabase();
    writer = EventStoreDBClient.connectionString(running.store.url);
    reader = EventStoreDBClient.connectionString(running.store.url);
  });
  afterAll(async () => {
    await Promise.all([writer.dispose(), reader.dispose()]);
    await running.stop();
  });

  it('is shown every event once and in order, each time it falls back to storage', async () => {
    const stream = freshStream();
    const subscription = reader.subscribeToStream(stream);
    const listener = new Listener(subscription);
    await listener.untilCaughtUp();

    const writers = new Writers(writer, stream, 6);
    for (let pause = 0; pause < 3; pause += 1) {
      subscription.pause();
      await writers.progress(APPENDS_PER_PAUSE);
      const heard = listener.events.length;
      subscription.resume();
      // On into what it is sent from storage, while the others go on writing.
      await listener.until(({ events }) => events.length > heard + 150);
    }
    const written = await writers.stop();
    await listener.until(({ events }) => events.at(-1)?.event?.revision === BigInt(written - 1));

    const revisions = listener.events.map(({ event }) => Number(event?.revision));
    expect(revisions.flatMap((each, at) => (each === at ? [] : [`${each} instead of ${at}`])).slice(0, 5)).toEqual([]);
    await listener.stop();
  });
});

/** Writers that append to one stream, each without pause. */
class Writers {
  private written = 0;
  private writing = true;
  private changed: () => void = () => undefined;
  private readonly done: Promise<unknown>;

  constructor(client: EventStoreDBClient, stream: string, count: number) {
    const write = async (): Promise<void> => {
      while (this.writing) {
        await client.appendToStream(stream, jsonEvent({ type: 'happened', data: { text: TEXT } }));
        this.written += 1;
        this.changed();
      }
    };
    this.done = Promise.all(Array.from({ length: count }, write));
  }

  /** Resolves when this many more events than now are written. */
  async progress(events: number): Promise<void> {
    const goal = this.written + events;
    while (this.written < goal) await new Promise<void>((resolve) => (this.changed = resolve));
  }

  /** Lets each writer finish what it has begun, and answers how much was written in all. */
  async stop(): Promise<number> {
    this.writing = false;
    await this.done;
    return this.written;
  }
}
