import type { StoredEvent } from '../../src/application/ports/event-store.js';
import { openEventStore } from '../../src/infrastructure/eventstore/event-store.js';
import { eventually } from '../support/eventually.js';
import { quiet } from '../support/quiet.js';
import type { Caller } from './rig/caller.js';
import { newPerson, newThread } from './rig/people.js';
import { startSite, type Site } from './rig/site.js';

let site: Site;
let log: ReturnType<typeof openEventStore>;
let ada: Caller;
let agents: readonly string[];
beforeAll(async () => {
  site = await startSite();
  const door = await site.program('api');
  await site.program('projector');
  log = openEventStore(site.backends.url, quiet);
  ada = (await newPerson(site.admin(door), 'Ada')).caller;
  agents = await Promise.all(['Supervisor', 'One', 'Two'].map(enrolled));
}, 60_000);
afterAll(async () => {
  await log.close();
  await site.remove();
});

async function enrolled(name: string): Promise<string> {
  const { agent } = await ada.done<{ agent: { id: string } }>('POST', '/v1/agents/enroll', {
    harness: 'offline',
    name,
    persona: null,
    model: 'm',
    provider: 'anthropic',
    credential: { mode: 'intake', type: 'api_key', value: 'sk-1' },
  });
  return agent.id;
}

async function started(): Promise<string> {
  const [supervisorAgentId, ...workerAgentIds] = agents;
  const asked = { threadId: await newThread(ada), question: 'Why whales?', supervisorAgentId, workerAgentIds };
  return (await ada.done<{ id: string }>('POST', '/v1/research', asked)).id;
}

const eventsOf = (id: string) => log.readStream(`research-${id}`);
const endings = ['research.completed', 'research.failed', 'research.cancelled'];
const callIn = ({ data }: StoredEvent) => String(data['callId']);
const idsOf = (events: readonly StoredEvent[], type: string) =>
  events.filter((event) => event.type === type).map(callIn);

/** What is wrong with a run that has ended. */
function faultsOf(events: readonly StoredEvent[]): readonly string[] {
  const ends = events.filter(({ type }) => endings.includes(type));
  const claims = events.filter(({ type }) => type === 'research.claimed').length;
  const [delegated, finished] = [idsOf(events, 'research.delegated'), idsOf(events, 'research.call_finished')];
  const isCompleted = ends.at(0)?.type === 'research.completed';
  return [
    ...(ends.length === 1 ? [] : [`it ended ${ends.length} times`]),
    ...(endings.includes(events.at(-1)?.type ?? '') ? [] : ['something came after its end']),
    ...(delegated.toSorted().join() === finished.toSorted().join() ? [] : ['calls and results are not one to one']),
    ...(isCompleted || claims === 3 ? [] : [`it failed after ${claims} attempts`]),
    ...(claims <= 3 ? [] : [`it was claimed ${claims} times`]),
  ];
}

const points = [
  ...['claimed', 'delegated', 'call_finished', 'completed'].flatMap((step) => [
    `before:eventStore.append(research.${step})`,
    `after:eventStore.append(research.${step})`,
  ]),
  'after:eventStore.append(thread.created)',
  'after:ledgerStore.append',
];

describe('research whose worker dies', () => {
  it('at any step ends once, with one result for each call', async () => {
    const runs: string[] = [];
    for (const point of points) {
      const victim = await site.program('worker', { PALIMPSEST_CRASH_AT: point });
      runs.push(await started());
      expect([point, await victim.ended()]).toEqual([point, 'SIGKILL']);
    }
    const worker = await site.program('worker');
    for (const id of runs) {
      const events = await eventually(
        () => eventsOf(id),
        (all) => all.some(({ type }) => endings.includes(type)),
        60_000,
      );
      expect(faultsOf(events)).toEqual([]);
    }
    const lost = (await Promise.all(runs.map(eventsOf))).flat().filter(({ data }) => data['failure'] === 'worker_lost');
    expect(lost.length).toBeGreaterThan(0);
    await worker.stop();
    expect(site.exits()).toEqual([]);
  }, 240_000);
});
