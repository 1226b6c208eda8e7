import { projections } from '../../projections/index.js';
import { sql } from '../../projections/kit/sql.js';
import type { DomainEvent } from '../../src/domain/kernel/aggregate.js';
import { MemoryEventStore } from '../../src/infrastructure/memory/event-store.js';
import { MemoryPersonalDataKeys } from '../../src/infrastructure/memory/personal-data-keys.js';
import { openDatabase } from '../../src/infrastructure/postgres/database.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { startProjector } from '../../src/infrastructure/projector/projector.js';
import { freshDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { quiet, uncounted } from '../support/quiet.js';
import { stored } from '../support/stored.js';

const kek = Buffer.alloc(32, 1);
const subjects = new MemoryPersonalDataKeys();

const enrolled = (agentId: string, credentialId: string): DomainEvent => ({
  type: 'agent.enrolled',
  data: {
    agentId,
    ownerId: 'ann',
    harness: 'native',
    provider: credentialId,
    model: 'm',
    name: agentId,
    persona: null,
    credentialMode: 'intake',
    credentialId,
    credentialVersionId: agentId,
    fence: {
      operation: 'agent.enroll',
      key: agentId,
      principal: 'ann',
      scope: 'user:ann',
      digest: 'ab',
      digestForm: 1,
      replayMode: 'actor-bound',
      outcome: agentId,
    },
  },
});

/** The rows that these enrollments come to, read in batches of a size; times are given by their order. */
async function rowsOf(history: readonly (readonly [agentId: string, credentialId: string])[], batchSize: number) {
  const fresh = await freshDatabase();
  const { url } = fresh;
  await migrate({ url, kek, projections, log: quiet });
  const database = openDatabase({ url, kek, log: quiet });
  const events = new MemoryEventStore();
  const positions: string[] = [];
  for (const [index, [agentId, credentialId]] of history.entries()) {
    const event = await stored(subjects, 'ann', enrolled(agentId, credentialId));
    const metadata = { ...event.metadata, at: `2026-01-01T00:00:0${index}.000Z` };
    const { position } = await events.append(`agent-${agentId}`, 'none', [{ ...event, metadata }]);
    positions.push(String(position));
  }
  const projector = startProjector({
    url,
    events,
    personalDataKeys: subjects,
    projections,
    log: quiet,
    metrics: uncounted,
    batchSize,
  });
  const agents = async () => (await database.system.run(sql`select id, position from agents`))[0]?.rows ?? [];
  await eventually(agents, ({ length }) => length === history.length);
  const [outcome] = await database.system.run(sql`
    select id, extract(second from created_at)::int as created, extract(second from rotated_at)::int as rotated,
      position::text as first, latest::text as latest
    from credentials order by id`);
  await projector.close();
  await database.close();
  await fresh.drop();
  return (outcome?.rows ?? []).map(({ first, latest, ...row }) => ({
    ...row,
    first: positions.indexOf(String(first)),
    latest: positions.indexOf(String(latest)),
  }));
}

describe('the rows of credentials', () => {
  it('are the same whether their enrollments are read one by one or together', async () => {
    const history = [
      ['a', 'cred_1'],
      ['b', 'cred_2'],
      ['c', 'cred_1'],
      ['d', 'cred_1'],
    ] as const;
    const together = await rowsOf(history, 100);
    expect(together).toEqual([
      { id: 'cred_1', created: 0, rotated: 3, first: 0, latest: 3 },
      { id: 'cred_2', created: 1, rotated: null, first: 1, latest: 1 },
    ]);
    expect(await rowsOf(history, 1)).toEqual(together);
  });
});
