import type { EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';

/** The ids that each stream holds, in the order of their revisions. */
export type Stored = ReadonlyMap<string, readonly string[]>;

export const total = (stored: Stored): number => [...stored.values()].reduce((sum, ids) => sum + ids.length, 0);

/** Reads streams. Where a revision is missing, the id says so. */
export async function contentsOf(client: EventStoreDBClient, streams: readonly string[]): Promise<Stored> {
  const stored = new Map<string, readonly string[]>();
  for (const stream of streams) {
    const events: ResolvedEvent[] = [];
    for await (const event of client.readStream(stream)) events.push(event);
    stored.set(
      stream,
      events.map(({ event }, at) => (Number(event?.revision) === at ? (event?.id ?? '') : `gap at ${at}`)),
    );
  }
  return stored;
}
