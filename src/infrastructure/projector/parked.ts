import type { ClientBase } from 'pg';
import { sql, type Sql } from '../../../projections/kit/sql.js';
import type { StoredEvent } from '../../application/ports/event-store.js';

/** A stream that a read model does not follow, from the revision on that failed. */
export interface ParkedStream {
  readonly stream: string;
  readonly revision: number;
}

/** Which read model has stopped following which streams: the table's content, in memory of the active projector. */
export class ParkedStreams {
  private readonly byProjection = new Map<string, Map<string, number>>();

  async load(client: ClientBase): Promise<void> {
    this.byProjection.clear();
    const { rows } = await client.query<{ projection: string; stream: string; revision: string }>(
      'select projection, stream, revision from palimpsest.parked_streams order by position',
    );
    for (const { projection, stream, revision } of rows) this.add(projection, stream, Number(revision));
  }

  has(projection: string, stream: string): boolean {
    return this.byProjection.get(projection)?.has(stream) ?? false;
  }

  /** In the order in which they were parked. */
  of(projection: string): readonly ParkedStream[] {
    return [...(this.byProjection.get(projection) ?? [])].map(([stream, revision]) => ({ stream, revision }));
  }

  add(projection: string, stream: string, revision: number): void {
    const streams = this.byProjection.get(projection) ?? new Map<string, number>();
    this.byProjection.set(projection, streams.set(stream, revision));
  }

  remove(projection: string, stream: string): void {
    this.byProjection.get(projection)?.delete(stream);
  }

  drop(projection: string): void {
    this.byProjection.delete(projection);
  }
}

export const parkStatement = (projection: string, event: StoredEvent, fault: string): Sql => sql`
  insert into palimpsest.parked_streams (projection, stream, revision, position, event_id, event_type, fault)
  values (${projection}, ${event.stream}, ${event.revision}, ${event.position}, ${event.id}, ${event.type}, ${fault})
  on conflict (projection, stream) do update set revision = excluded.revision, position = excluded.position,
    event_id = excluded.event_id, event_type = excluded.event_type, fault = excluded.fault, parked_at = now()`;

export const unparkStatement = (projection: string, stream: string): Sql => sql`
  delete from palimpsest.parked_streams where projection = ${projection} and stream = ${stream}`;
