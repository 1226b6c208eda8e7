import { z } from 'zod';
import { sql } from '../../../projections/kit/sql.js';
import { mostLag, type ProjectionControl } from '../../application/ports/projection-control.js';
import { BackendUnavailable } from '../../application/faults/errors.js';
import type { EventStore } from '../../application/ports/event-store.js';
import type { Projection } from '../../../projections/kit/projection.js';
import type { Statements } from '../postgres/database.js';
import { requestsChannel } from './requests.js';

/** How long a caller waits for its request; the rebuild goes on without it. */
const waitForMs = 15 * 60_000;
const askEveryMs = 50;
/** How many events are read at once to be counted. Why: they may be large. */
const countedAtOnce = 100;

const statusRow = z.object({
  name: z.string(),
  position: z.coerce.bigint(),
  parked: z.coerce.number(),
  rebuilding: z.boolean(),
});

const outcomeRow = z.object({
  state: z.enum(['asked', 'done', 'failed']),
  events: z.coerce.number(),
  position: z.string().nullable(),
});

export interface ParkedReport {
  readonly projection: string;
  readonly stream: string;
  readonly revision: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly fault: string;
}

/** Reads the state of the read models and asks for work on them from any process, whichever runs the active projector. */
export interface PostgresProjectionControl extends ProjectionControl {
  /** Retries a read model's parked streams; false when there is no read model of that name. */
  retryParked(name: string): Promise<boolean>;
  /** Lists every parked stream, by read model. */
  parked(): Promise<readonly ParkedReport[]>;
}

/** A rebuild failed in the active projector, whose log says why. The live read model is as it was. */
export class RebuildFailed extends Error {
  constructor(projection: string) {
    super(`The read model ${projection} could not be rebuilt.`);
  }
}

/** Counts the events after a position, up to `mostLag`. Why: positions are sparse, and there may be millions. */
async function countAfter(events: EventStore, position: bigint): Promise<number> {
  let after = position < 0n ? undefined : position;
  let count = 0;
  while (count < mostLag) {
    const page = await events.readAll(after, countedAtOnce);
    count += page.length;
    after = page.at(-1)?.position;
    if (page.length < countedAtOnce) return count;
  }
  return mostLag;
}

export function makeProjectionControl(
  system: Statements,
  events: EventStore,
  projections: readonly Projection[],
): PostgresProjectionControl {
  const isKnown = (name: string) => projections.some((projection) => projection.name === name);

  async function ask(kind: 'rebuild' | 'retry', name: string): Promise<z.output<typeof outcomeRow>> {
    const [asked] = await system.run(
      sql`insert into palimpsest.projector_requests (kind, projection) values (${kind}, ${name}) returning id`,
      sql`select pg_notify(${requestsChannel}, '')`,
    );
    const until = performance.now() + waitForMs;
    while (performance.now() < until) {
      const [answer] = await system.run(
        sql`select state, events, position from palimpsest.projector_requests where id = ${asked?.rows[0]?.['id']}`,
      );
      const outcome = outcomeRow.parse(answer?.rows[0]);
      if (outcome.state !== 'asked') return outcome;
      await new Promise((resolve) => setTimeout(resolve, askEveryMs));
    }
    throw new BackendUnavailable('postgres');
  }

  return {
    async list() {
      const names = projections.map(({ name }) => name);
      const [outcome] = await system.run(sql`
        select name, position, to_regnamespace('rebuild_' || name) is not null as rebuilding,
          (select count(*) from palimpsest.parked_streams where projection = name) as parked
        from palimpsest.projections where name = any(${names}) order by array_position(${names}::text[], name)`);
      const rows = z.array(statusRow).parse(outcome?.rows);
      // Most often all stand at the same position.
      const lags = new Map<bigint, number>();
      for (const { position } of rows) if (!lags.has(position)) lags.set(position, await countAfter(events, position));
      return rows.map(({ position, ...row }) => ({
        ...row,
        position: (position < 0n ? 0n : position).toString(),
        lag: lags.get(position) ?? 0,
      }));
    },

    async rebuild(name) {
      if (!isKnown(name)) return undefined;
      const { state, events: read, position } = await ask('rebuild', name);
      if (state === 'failed') throw new RebuildFailed(name);
      return { name, events: read, position: position ?? '0' };
    },

    async retryParked(name) {
      return isKnown(name) && (await ask('retry', name)).state === 'done';
    },

    async parked() {
      const [outcome] = await system.run(sql`
        select projection, stream, revision, event_id as "eventId", event_type as "eventType", fault
        from palimpsest.parked_streams order by projection, position`);
      return (outcome?.rows ?? []) as unknown as readonly ParkedReport[]; // The columns are selected under these names.
    },
  };
}
