import { EventStoreDBClient } from '@eventstore/db-client';
import { until } from '../../support/until.js';
import { Follower } from './follower.js';
import { Rig } from './rig.js';
import { contentsOf, total, type Stored } from './stored.js';
import { Writers } from './writers.js';

export interface ChaosReport {
  readonly rounds: number;
  readonly acknowledged: number;
  readonly stored: number;
  readonly seen: number;
  readonly retries: number;
  readonly interruptions: number;
  /** Everything that must not be: empty after a good run. */
  readonly faults: readonly string[];
}

/**
 * Kills the event store and Postgres in turn, without warning, under 64 writers and a subscriber, and compares what was
 * acknowledged, what is stored and what was seen.
 */
export async function chaosRun(
  rounds: number,
  writerCount = 64,
  tell: (line: string) => void = () => undefined,
): Promise<ChaosReport> {
  const rig = new Rig();
  await rig.start();
  const client = EventStoreDBClient.connectionString(rig.url);
  try {
    const writers = new Writers(client, writerCount);
    const follower = new Follower(client);
    for (let round = 0; round < rounds; round += 1) {
      await writers.progress(500);
      const victim = round % 2 === 0 ? 'server' : 'postgres';
      await (victim === 'server' ? rig.killServer() : rig.killPostgres());
      tell(`round ${round + 1}: killed ${victim}, ${writers.acknowledged.length} events acknowledged`);
    }
    await writers.progress(500);
    await writers.stop();
    const stored = await contentsOf(client, writers.streams);
    await until(() =>
      Promise.resolve(follower.seen.filter(({ stream }) => stored.has(stream)).length >= total(stored) || undefined),
    );
    await follower.stop();
    return {
      rounds,
      acknowledged: writers.acknowledged.length,
      stored: total(stored),
      seen: follower.seen.filter(({ stream }) => stored.has(stream)).length,
      retries: writers.retries,
      interruptions: follower.interruptions,
      faults: [...writers.violations, ...lost(writers, stored), ...torn(stored, writers), ...misseen(follower, stored)],
    };
  } finally {
    await client.dispose();
    await rig.remove();
  }
}

const lost = ({ acknowledged }: Writers, stored: Stored): string[] =>
  acknowledged
    .filter(({ stream, id, revision }) => stored.get(stream)?.[revision] !== id)
    .map(({ stream, revision }) => `${stream}: acknowledged revision ${revision} is lost or changed`);

/** Every append is there whole or not at all, so each stream ends where an acknowledged append ended. */
const torn = (stored: Stored, { acknowledged }: Writers): string[] =>
  [...stored].flatMap(([stream, ids]) => {
    const reported = acknowledged.filter((each) => each.stream === stream).length;
    return ids.length === reported ? [] : [`${stream}: ${ids.length} stored, ${reported} acknowledged`];
  });

function misseen({ seen }: Follower, stored: Stored): string[] {
  const faults: string[] = [];
  const next = new Map<string, number>();
  let position = -1n;
  for (const event of seen) {
    if (event.position <= position) faults.push(`seen out of order at ${event.position}`);
    position = event.position;
    const ids = stored.get(event.stream);
    if (!ids) continue;
    const expected = next.get(event.stream) ?? 0;
    if (event.revision !== expected || ids[expected] !== event.id)
      faults.push(`${event.stream}: saw ${event.revision}, expected ${expected}`);
    next.set(event.stream, expected + 1);
  }
  return faults;
}
