import type { AllStreamResolvedEvent, ResolvedEvent, StreamingRead } from '@eventstore/db-client';
import type { Connection } from './connection.js';
import { discoveryFailed, failureType, unavailable } from './failures.js';

type Read<Event> = Pick<StreamingRead<Event>, 'on' | 'cancel'>;

const silentForMs = 5_000;

/** Runs one read to its end. A missing stream is empty; a read that falls silent is given up. */
export async function collect<Event extends ResolvedEvent | AllStreamResolvedEvent>(
  connection: Connection,
  start: (client: Awaited<ReturnType<Connection['client']>>) => Read<Event>,
): Promise<Event[]> {
  const client = await connection.client();
  const read = start(client);
  return new Promise((resolve, reject) => {
    const events: Event[] = [];
    const silence = setTimeout(() => {
      connection.renew('a read was not answered');
      read.cancel().catch(() => undefined); // It was given up either way.
      reject(unavailable(new Error('timeout')));
    }, silentForMs);
    read
      .on('data', (event: Event) => {
        silence.refresh();
        events.push(event);
      })
      .on('end', () => {
        clearTimeout(silence);
        // A call that the client ended itself looks complete and is not.
        if (connection.isCurrent(client)) resolve(events);
        else reject(unavailable(new Error('cancelled')));
      })
      .on('error', (failure: Error) => {
        clearTimeout(silence);
        const type = failureType(failure);
        if (type === 'stream-not-found' || type === 'stream-deleted') return resolve([]);
        if (discoveryFailed(failure)) connection.renew('discovery failed');
        reject(unavailable(failure));
      });
  });
}
