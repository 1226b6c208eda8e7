import { BACKWARDS, END, FORWARDS, START, type AllStreamResolvedEvent } from '@eventstore/db-client';
import type { EventLog, Log, StoredEvent, SubscriptionListener } from '../../application/ports.js';
import { BatchAppends } from './batch-append.js';
import { Connection } from './connection.js';
import { unavailable } from './failures.js';
import { collect } from './reads.js';
import { storedEvent } from './stored-event.js';
import { Follower } from './subscription.js';

export { AppendRefused } from './batch-append.js';

const pageSize = 500;

/** The event store behind a connection string (`esdb://…`, `esdb+discover://…` or `kurrentdb://…`). */
export function openEventLog(url: string, log: Log): EventLog & { close(): Promise<void>; ping(): Promise<void> } {
  const connection = new Connection(url, log);
  const appends = new BatchAppends(connection);
  const followers = new Set<Follower>();
  let closed = false;

  const page = (from: bigint | undefined, maxCount: number, direction: typeof FORWARDS | typeof BACKWARDS) =>
    collect<AllStreamResolvedEvent>(connection, (client) => {
      const edge = direction === FORWARDS ? START : END;
      return client.readAll({
        direction,
        maxCount,
        fromPosition: from === undefined ? edge : { commit: from, prepare: from },
      });
    });

  const head = async (): Promise<bigint> => {
    // The store's own events are passed over, and most often there are none at the end.
    for (let [from, count] = [undefined as bigint | undefined, 1]; ; count = pageSize) {
      const read = await page(from, count, BACKWARDS);
      const ours = read.map(storedEvent).find((event) => event !== undefined);
      if (ours || read.length < count) return ours?.position ?? 0n;
      from = read.at(-1)?.event?.position.commit;
    }
  };

  return {
    async append(stream, expected, events) {
      if (events.length === 0) throw new RangeError('There is nothing to append.');
      if (closed) throw unavailable();
      return appends.append(stream, expected, events);
    },

    async readStream(stream, from = 0, limit = Number.MAX_SAFE_INTEGER) {
      if (limit <= 0) return [];
      const read = await collect(connection, (client) =>
        client.readStream(stream, { fromRevision: BigInt(from), maxCount: limit, direction: FORWARDS }),
      );
      return read.map(storedEvent).filter((event) => event !== undefined);
    },

    async last(stream) {
      const [read] = await collect(connection, (client) =>
        client.readStream(stream, { fromRevision: END, maxCount: 1, direction: BACKWARDS }),
      );
      return read && storedEvent(read);
    },

    async readAll(after, limit) {
      const events: StoredEvent[] = [];
      for (let from = after; events.length < limit;) {
        // Reading starts at the position itself, which was had before.
        const count = Math.min(limit - events.length, pageSize * 10) + (from === undefined ? 0 : 1);
        const read = await page(from, count, FORWARDS);
        for (const resolved of read) {
          const event = storedEvent(resolved);
          if (event && (from === undefined || event.position > from)) events.push(event);
        }
        if (read.length < count) break;
        from = read.at(-1)?.event?.position.commit;
      }
      return events;
    },

    head,

    subscribe(after: bigint | undefined, listener: SubscriptionListener) {
      const follower = new Follower(connection, head, log, after, listener);
      followers.add(follower);
      return {
        async stop() {
          await follower.stop();
          followers.delete(follower);
        },
      };
    },

    async ping() {
      await head();
    },

    async close() {
      closed = true;
      await Promise.all([...followers].map((follower) => follower.stop()));
      appends.close();
      await connection.close();
    },
  };
}
