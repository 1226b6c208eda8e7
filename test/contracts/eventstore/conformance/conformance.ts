import { EventStoreDBClient } from '@eventstore/db-client';
import { appending } from './appending.js';
import { deleting } from './deleting.js';
import { idempotency } from './idempotency.js';
import { promises } from './promises.js';
import { reading } from './reading.js';
import { subscribing } from './subscribing.js';
import { truncation } from './truncation.js';

export interface Running {
  readonly url: string;
  stop(): Promise<void>;
}

const everywhere = [appending, idempotency, deleting, truncation, reading, subscribing];

/** What a single-node server of the protocol does, one sentence per rule, asked through the official client. */
export function conformance(name: string, start: () => Promise<Running>, parts = everywhere): void {
  describe(name, () => {
    let running: Running;
    let client: EventStoreDBClient;
    beforeAll(async () => {
      running = await start();
      client = EventStoreDBClient.connectionString(running.url);
    });
    afterAll(async () => {
      await client.dispose();
      await running.stop();
    });
    for (const part of parts) part(() => client);
  });
}

/** The same, and what only the embedded event store promises. */
export const embeddedConformance = (name: string, start: () => Promise<Running>): void =>
  conformance(name, start, [...everywhere, promises]);
