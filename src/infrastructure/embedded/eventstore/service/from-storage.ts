import type { Engine } from '../engine/engine.js';
import type { Call } from '../grpc/call.js';

const RETRY_EVERY = 250;

/** Asks storage again and again while it is away: a subscription outlives a restart of the database. */
export async function fromStorage<Row>(engine: Engine, call: Call, ask: () => Promise<Row[]>): Promise<Row[]> {
  while (call.open) {
    try {
      return await ask();
    } catch (fault) {
      engine.note('a subscription waits for the database', fault);
      await new Promise((resolve) => setTimeout(resolve, RETRY_EVERY));
    }
  }
  return [];
}
