import { z } from 'zod';
import { sql } from '../../../projections/kit/sql.js';
import { pause } from '../../application/kernel/concurrency/repeat-every.js';
import { retryParked } from './retry.js';
import type { ActiveTerm } from './active-term.js';

/** The channel that announces a new request for the active projector. */
export const requestsChannel = 'palimpsest_projector';

const askEveryMs = 5_000;

const requestRow = z.object({ id: z.string(), kind: z.enum(['rebuild', 'retry']), projection: z.string() });
type Request = z.output<typeof requestRow>;

/** Serves what other processes ask of the active projector, one by one. What a term leaves undone, the next does. */
export class Requests {
  private announced = new AbortController();

  constructor(private readonly term: ActiveTerm) {}

  async listen(): Promise<void> {
    const { client } = this.term;
    client.on('notification', ({ channel }) => {
      if (channel === requestsChannel) this.announced.abort();
    });
    await client.query(`listen ${requestsChannel}`);
  }

  async serve(): Promise<void> {
    const { over } = this.term;
    while (!over.aborted) {
      const request = await this.next();
      if (request) await this.serveOne(request);
      else await pause(askEveryMs, AbortSignal.any([over, this.announced.signal]));
    }
  }

  private async next(): Promise<Request | undefined> {
    this.announced = new AbortController();
    const [, asked] = await this.term.runStatementsExclusive(
      sql`delete from palimpsest.projector_requests where asked_at < now() - interval '1 day'`,
      sql`select id, kind, projection from palimpsest.projector_requests where state = 'asked' order by id limit 1`,
    );
    const [row] = asked?.rows ?? [];
    return row && requestRow.parse(row);
  }

  private async serveOne({ id, kind, projection: name }: Request): Promise<void> {
    const { projections } = this.term.needs;
    const projection = projections.find((one) => one.name === name);
    const rebuilt = projection && kind === 'rebuild' ? await this.term.rebuild(projection) : undefined;
    if (projection && kind === 'retry') await retryParked(this.term, projection);
    const state = projection && (rebuilt !== undefined || kind === 'retry') ? 'done' : 'failed';
    await this.term.runStatementsExclusive(sql`
      update palimpsest.projector_requests set state = ${state}, events = ${rebuilt?.events ?? null},
        position = ${rebuilt?.position ?? null} where id = ${id}`);
  }
}
