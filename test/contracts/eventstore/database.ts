import { startEventStore, type EventStore } from '../../../src/infrastructure/embedded/eventstore/server.js';
import { freshDatabase, type FreshDatabase } from '../../support/database.js';

export interface StoreOnDatabase {
  readonly store: EventStore;
  readonly database: FreshDatabase;
  stop(): Promise<void>;
}

/** An event store on an empty database of its own. */
export async function storeOnFreshDatabase(): Promise<StoreOnDatabase> {
  const database = await freshDatabase();
  const store = await startEventStore({ databaseUrl: database.url });
  return {
    store,
    database,
    async stop() {
      await store.stop();
      await database.drop();
    },
  };
}
