import { escapeIdentifier, type Client } from 'pg';
import type { Projection } from '../../../projections/kit/projection.js';
import type { StoredEvent } from '../../application/ports/event-store.js';
import { appRoleOfUrl } from '../postgres/app-role.js';
import { connectAlone, readModelSchema } from '../postgres/database.js';
import { forgetPrepared } from '../postgres/pipeline.js';
import { lockNumbers } from '../postgres/locks.js';
import { formOf, makeTables } from '../postgres/read-model-tables.js';
import { inTransaction } from '../postgres/transaction.js';
import { pause } from '../../application/kernel/concurrency/repeat-every.js';
import type { ActiveTerm, Rebuilt } from './active-term.js';
import { answerWithinMs, readAhead, writeRows, type WriteTarget } from './write-rows.js';

/** How long the swap waits for readers of the old tables; meanwhile new readers wait behind it. */
const swapWithin = '500ms';
const triesToSwap = 60;
const lockNotAvailable = '55P03';

/**
 * Builds a read model anew beside the live one, from the first event on, while the live one follows the log; then, between
 * two batches, takes it up to the checkpoint and swaps it in.
 * Invariant: readers never see less than before, and no reaction is called.
 */
export async function rebuild(term: ActiveTerm, projection: Projection): Promise<Rebuilt> {
  const { url, log } = term.needs;
  const schema = `rebuild_${projection.name}`;
  const client = await connectAlone(url, { schema, durable: false, statementTimeoutMs: answerWithinMs }, log);
  try {
    const shadow = new ShadowTables(term, projection, client, schema);
    await shadow.make();
    while (await shadow.readOn()) term.over.throwIfAborted();
    for (let attempt = 1; ; attempt += 1) {
      try {
        await term.runExclusive(() => shadow.swapIn());
        log.info({ projection: projection.name, events: shadow.events }, 'rebuilt');
        return { events: shadow.events, position: term.checkpoint };
      } catch (fault) {
        const busy = isCode(fault, lockNotAvailable) && attempt < triesToSwap;
        if (!busy) throw fault;
        await pause(100, term.over);
      }
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}

const isCode = (fault: unknown, code: string): boolean =>
  fault instanceof Error && 'code' in fault && fault.code === code;

/** Tables in a schema of their own beside the live ones: the same statements fill them, under another search path. */
class ShadowTables {
  events = 0;
  private position = -1n;
  private readonly parkedAs: string;

  constructor(
    private readonly term: ActiveTerm,
    private readonly projection: Projection,
    private readonly client: Client,
    private readonly schema: string,
  ) {
    this.parkedAs = `rebuild of ${projection.name}`;
  }

  async make(): Promise<void> {
    const { url, folder } = this.term.needs;
    // A projector that lost its lock may still be running a statement on the shadow tables.
    await this.client.query('select pg_advisory_lock($1, $2)', lockNumbers.rebuild);
    await inTransaction(this.client, async () => {
      await this.dropLeftovers();
      await this.client.query(`create schema ${escapeIdentifier(this.schema)}`);
      await makeTables(this.client, this.schema, this.projection, folder, appRoleOfUrl(url));
    });
    this.term.parked.drop(this.parkedAs);
  }

  /** Writes the next events of the log; false when few are left, so that `swapIn` can write them while the others wait. */
  async readOn(): Promise<boolean> {
    const page = await this.nextPage();
    await this.write(page);
    return page.length === this.term.needs.batchSize;
  }

  /** Writes the rest up to the checkpoint and swaps the tables. Invariant: runs in turn, so no other rows change meanwhile. */
  async swapIn(): Promise<void> {
    for (;;) {
      const page = await this.nextPage();
      const due = page.filter(({ position }) => position <= this.term.checkpoint);
      await this.write(due);
      if (due.length < page.length || page.length === 0) break;
    }
    const { client } = this.term;
    await inTransaction(client, () => this.swap(client));
    await forgetPrepared(client);
    await this.term.parked.load(client);
    this.term.join(this.projection);
  }

  private async swap(client: Client): Promise<void> {
    await client.query(`set local lock_timeout = '${swapWithin}'`);
    await this.replaceTables(client);
    await this.recordForm(client);
    await client.query(`drop schema ${escapeIdentifier(this.schema)}`);
    const { text, values } = this.term.assertCheckpoint(this.projection);
    await client.query(text, [...values]);
  }

  private async replaceTables(client: Client): Promise<void> {
    const { name, tables } = this.projection;
    const { rows } = await client.query<{ tables: string[] }>(
      'select tables from palimpsest.projections where name = $1',
      [name],
    );
    const live = escapeIdentifier(readModelSchema);
    const old = (rows[0]?.tables ?? []).map((table) => `${live}.${escapeIdentifier(table)}`);
    if (old.length > 0) await client.query(`drop table if exists ${old.join(', ')}`);
    for (const table of tables) {
      const built = `${escapeIdentifier(this.schema)}.${escapeIdentifier(table)}`;
      await client.query(`alter table ${built} set schema ${live}`);
    }
  }

  private async recordForm(client: Client): Promise<void> {
    const { name, tables } = this.projection;
    const { checkpoint, needs } = this.term;
    await client.query(
      `insert into palimpsest.projections (name, form, tables, position) values ($1, $2, $3, $4)
       on conflict (name) do update set form = excluded.form, tables = excluded.tables, position = excluded.position`,
      [name, formOf(this.projection, needs.folder), tables, checkpoint],
    );
    await client.query('delete from palimpsest.parked_streams where projection = $1', [name]);
    await client.query('update palimpsest.parked_streams set projection = $1 where projection = $2', [
      name,
      this.parkedAs,
    ]);
  }

  private async dropLeftovers(): Promise<void> {
    await this.client.query(`drop schema if exists ${escapeIdentifier(this.schema)} cascade`);
    await this.client.query('delete from palimpsest.parked_streams where projection = $1', [this.parkedAs]);
  }

  private nextPage(): Promise<readonly StoredEvent[]> {
    const { events, batchSize } = this.term.needs;
    return events.readAll(this.position < 0n ? undefined : this.position, batchSize);
  }

  private async write(events: readonly StoredEvent[]): Promise<void> {
    const { needs } = this.term;
    await writeRows(this.target(), needs, await readAhead(needs, [this.projection], events));
    this.events += events.length;
  }

  private target(): WriteTarget {
    return {
      client: this.client,
      projections: [this.projection],
      parked: this.term.parked,
      parkedAs: () => this.parkedAs,
      first: () => [],
      written: ({ position }) => {
        this.position = position;
      },
    };
  }
}
