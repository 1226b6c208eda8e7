import type { StoredEvent } from '../../application/ports/event-store.js';
import { openRead } from './calls.js';
import type { Connection } from './connection.js';
import { discoveryFailed, streamDeleted, unavailable } from './failures.js';
import { readRequest, type ReadTarget } from './read-wire.js';

const silentForMs = 5_000;

export interface Page {
  readonly events: readonly StoredEvent[];
  /** How many events were read, the store's own included. */
  readonly count: number;
  /** Where the last of them stands. */
  readonly position: bigint | undefined;
}

/** Runs one read to its end. A missing stream is empty; a read that falls silent is given up, never cut short. */
export async function readPage(
  connection: Connection,
  target: ReadTarget,
  limit: number,
  direction: 'forwards' | 'backwards' = 'forwards',
): Promise<Page> {
  try {
    const call = await openRead(connection, readRequest(target, limit, direction));
    return await new Promise((resolve, reject) => {
      const events: StoredEvent[] = [];
      let count = 0;
      let position: bigint | undefined;
      const silence = setTimeout(() => {
        connection.renew('a read was not answered');
        reject(new Error('timeout'));
        call.cancel();
      }, silentForMs);
      call
        .on('data', (answer) => {
          silence.refresh();
          if (answer.kind !== 'event') return;
          count += 1;
          position = answer.position;
          if (answer.event) events.push(answer.event);
        })
        .on('end', () => {
          clearTimeout(silence);
          resolve({ events, count, position });
        })
        .on('error', (failure) => {
          clearTimeout(silence);
          reject(failure);
        });
    });
  } catch (failure) {
    if (streamDeleted(failure)) return { events: [], count: 0, position: undefined };
    if (discoveryFailed(failure)) connection.renew('discovery failed');
    throw unavailable(failure);
  }
}
