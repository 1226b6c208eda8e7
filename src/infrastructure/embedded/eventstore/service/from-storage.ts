import type { Engine } from '../engine/engine.js';
import type { Call } from '../grpc/call.js';

const RETRY_EVERY = 250;

/**
 * Asks storage again and again while it is away: a subscription outlives a restart of the database. Answers undefined
 * when the call is over.
 */
export async function fromStorage<Answer>(
  engine: Engine,
  call: Call,
  ask: () => Promise<Answer>,
): Promise<Answer | undefined> {
  while (call.open) {
    try {
      return await ask();
    } catch (fault) {
      engine.note('a subscription waits for the database', fault);
      await new Promise((resolve) => setTimeout(resolve, RETRY_EVERY));
    }
  }
  return undefined;
}
