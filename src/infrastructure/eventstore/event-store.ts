import type { EventStore, StoredEvent } from '../../application/ports/event-store.js';
import type { LogProbe } from '../../application/ports/log-binding.js';
import type { Logger } from '../../application/ports/telemetry.js';
import { BatchAppends } from './batch-append.js';
import { Connection } from './connection.js';
import { unavailable } from './failures.js';
import { readPage } from './reads.js';
import { Follower } from './subscription.js';

const pageSize = 500;
const maxPageSize = 5_000;

export interface OpenedEventStore extends EventStore, LogProbe {
  close(): Promise<void>;
}

/** The event store behind a connection string (`esdb://…`, `esdb+discover://…` or `kurrentdb://…`). */
export function openEventStore(url: string, log: Logger): OpenedEventStore {
  const connection = new Connection(url, log);
  const appends = new BatchAppends(connection);
  const followers = new Set<Follower>();
  let closed = false;

  const events: OpenedEventStore = {
    async append(stream, expected, events) {
      if (events.length === 0) throw new RangeError('There is nothing to append.');
      if (closed) throw unavailable();
      return appends.append(stream, expected, events);
    },

    async readStream(stream, from = 0, limit = Number.MAX_SAFE_INTEGER) {
      if (limit <= 0) return [];
      return (await readPage(connection, { stream, from }, limit)).events;
    },

    async lastEvent(stream) {
      const { events } = await readPage(connection, { stream, from: 'end' }, 1, 'backwards');
      return events[0];
    },

    readAll: (after, limit) => readAll(connection, after, limit),

    headPosition: () => headPosition(connection),

    subscribe(after, listener, types) {
      const follower = new Follower(connection, events, log, after, listener, types);
      followers.add(follower);
      return {
        async stop() {
          await follower.stop();
          followers.delete(follower);
        },
      };
    },

    async endPosition() {
      return (await readPage(connection, { from: 'end' }, 1, 'backwards')).position ?? -1n;
    },

    async close() {
      closed = true;
      await Promise.all([...followers].map((follower) => follower.stop()));
      appends.close();
      await connection.close();
    },
  };
  return events;
}

async function headPosition(connection: Connection): Promise<bigint> {
  // The store's own events are passed over, and most often there are none at the end.
  let from: bigint | 'end' = 'end';
  for (let count = 1; ; count = pageSize) {
    const page = await readPage(connection, { from }, count, 'backwards');
    const [last] = page.events;
    if (last || page.count < count || page.position === undefined) return last?.position ?? 0n;
    from = page.position;
  }
}

async function readAll(
  connection: Connection,
  after: bigint | undefined,
  limit: number,
): Promise<readonly StoredEvent[]> {
  const read: StoredEvent[] = [];
  for (let from = after; read.length < limit;) {
    // Reading starts at the position itself, which was read before.
    const count = Math.min(limit - read.length, maxPageSize) + (from === undefined ? 0 : 1);
    const page = await readPage(connection, { from: from ?? 'start' }, count);
    read.push(...page.events.filter(({ position }) => from === undefined || position > from));
    if (page.count < count) break;
    from = page.position;
  }
  return read;
}
