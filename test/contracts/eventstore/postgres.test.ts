import { embeddedConformance } from './conformance/conformance.js';
import { storeOnFreshDatabase } from './database.js';

embeddedConformance('the embedded event store on Postgres', async () => {
  const running = await storeOnFreshDatabase();
  return { url: running.store.url, stop: () => running.stop() };
});
