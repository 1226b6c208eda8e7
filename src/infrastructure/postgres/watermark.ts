import type { Client } from 'pg';
import { sql } from '../../../projections/kit/sql.js';
import type { Watermark } from '../../application/ports/read-models.js';
import type { Database } from './database.js';
import { runTogether } from './pipeline.js';

/** The channel on which the active projector announces how far the rows are. */
export const projectedChannel = 'palimpsest_projected';

/** How often a waiter also asks. Why: a notification can be lost with its connection. */
const askEveryMs = 500;
const answerWithinMs = 2_000;

export interface PostgresWatermark extends Watermark {
  close(): Promise<void>;
}

interface Waiter {
  readonly position: bigint;
  readonly resolve: (isReached: boolean) => void;
}

/** Follows how far the read models are, whichever process projects them. */
export function followWatermark(
  database: Pick<Database, 'connect'>,
  projections: readonly { readonly name: string }[],
): PostgresWatermark {
  const names = projections.map(({ name }) => name);
  const waiters = new Set<Waiter>();
  // Unknown while not connected: after a crash of Postgres the rows may be a little behind what was announced before.
  let known: bigint | undefined;
  let listening: Promise<Client> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function learn(position: bigint): void {
    if (known === undefined || position > known) known = position;
    for (const waiter of waiters) {
      if (waiter.position <= known) finish(waiter, true);
    }
  }

  function finish(waiter: Waiter, isReached: boolean): void {
    if (!waiters.delete(waiter)) return;
    if (waiters.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    waiter.resolve(isReached);
  }

  function listen(): Promise<Client> {
    listening ??= (async () => {
      const client = await database.connect();
      client.on('notification', ({ payload }) => payload !== undefined && learn(BigInt(payload)));
      client.on('end', () => {
        known = undefined;
        listening = undefined;
      });
      await client.query(`listen ${projectedChannel}`);
      return client;
    })();
    listening.catch(() => {
      listening = undefined;
    });
    return listening;
  }

  async function ask(): Promise<void> {
    let client: Client | undefined;
    try {
      client = await listen();
      const [outcome] = await runTogether(
        client,
        [sql`select min(position) as position from palimpsest.projections where name = any(${names})`],
        answerWithinMs,
      );
      const position = outcome?.rows[0]?.['position'];
      if (typeof position === 'string') learn(BigInt(position));
    } catch {
      // Postgres is not reachable now: waiters ask again on a new connection until their time is over.
      await client?.end();
    }
  }

  if (names.length > 0) void ask();
  return {
    waitFor(position, timeoutMs) {
      if (closed) return Promise.resolve(false);
      if (names.length === 0 || (known !== undefined && known >= position)) return Promise.resolve(true);
      return new Promise((resolve) => {
        const waiter = { position, resolve };
        waiters.add(waiter);
        setTimeout(() => finish(waiter, false), timeoutMs).unref();
        timer ??= setInterval(() => void ask(), askEveryMs);
        if (known === undefined) void ask();
      });
    },
    async close() {
      closed = true;
      for (const waiter of waiters) finish(waiter, false);
      const client = await listening?.catch(() => undefined);
      await client?.end();
    },
  };
}
