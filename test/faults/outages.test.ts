import { until } from '../support/until.js';
import { deadlineMs, type Answer, type Call, type Caller } from './rig/caller.js';
import { newPad, newPerson, type Pad } from './rig/people.js';
import { startSite, type BackendName, type Placed, type Site } from './rig/site.js';

const mendedWithinMs = 10_000;

let site: Site;
let product: Placed;
let caller: Caller;
let pad: Pad;
beforeAll(async () => {
  site = await startSite();
  product = await site.program('all');
  caller = (await newPerson(site.admin(product), 'Ada')).caller;
  pad = await newPad(caller);
}, 60_000);
afterAll(() => site.remove());

type Outage = 'refuses' | 'is a black hole' | 'breaks in mid-reply' | 'is slow' | 'is started again';

const unmissable: ReadonlySet<Outage> = new Set(['refuses', 'is a black hole', 'breaks in mid-reply']);

/** Begins an outage; what it answers ends it. */
function begin(outage: Outage, backend: BackendName): () => Promise<void> {
  const proxy = site.proxies[backend];
  switch (outage) {
    case 'refuses':
      proxy.refuse();
      break;
    case 'is a black hole':
      proxy.blackHole();
      break;
    case 'is slow':
      proxy.delay(300);
      break;
    case 'breaks in mid-reply': {
      const cutting = setInterval(() => proxy.cutAfter(30), 20);
      return async () => {
        clearInterval(cutting);
        proxy.pass();
      };
    }
    case 'is started again': {
      const restarting = restart[backend]();
      return () => restarting;
    }
  }
  return async () => proxy.pass();
}

const restart: Readonly<Record<BackendName, () => Promise<void>>> = {
  async redis() {
    await site.redis.kill();
    await site.redis.start();
  },
  eventstore: () => site.backends.killServer(),
  postgres: () => site.backends.killPostgres(),
};

/** One call of each sort: by the streams, the read models, Redis; reading and writing. */
const calls = (): readonly Call[] => [
  { method: 'GET', path: '/v1/me' },
  { method: 'GET', path: `/v1/threads/${pad.threadId}` },
  { method: 'GET', path: `/v1/scratchpads/${pad.id}/view` },
  { method: 'GET', path: `/v1/scratchpads/${pad.id}/entries` },
  { method: 'GET', path: '/v1/audit/events' },
  { method: 'POST', path: '/v1/threads', body: { title: 'Plan' } },
  { method: 'PUT', path: `/v1/scratchpads/${pad.id}/content`, body: { content: 'the plan' } },
  { method: 'POST', path: `/v1/scratchpads/${pad.id}/entries`, body: { content: 'words' } },
  { method: 'DELETE', path: `/v1/scratchpads/${pad.id}/entries` },
];

const callAll = (): Promise<readonly Answer[]> => Promise.all(calls().map((call) => caller.once(call, 2 * deadlineMs)));

/** A fault that strikes now and then is asked into until it has struck; the check below fails when it never does. */
async function askUntilNoticed(outage: Outage): Promise<readonly Answer[]> {
  const asked = [...(await callAll())];
  for (let rounds = 1; rounds < 20 && unmissable.has(outage); rounds += 1) {
    if (asked.some(({ status }) => status >= 500)) break;
    asked.push(...(await callAll()));
  }
  return asked;
}

/** Done, or "not now": an outage is no reason for any other answer. */
const honest = new Set([200, 201, 503]);

const backends: readonly BackendName[] = ['redis', 'eventstore', 'postgres'];
const outages: readonly Outage[] = ['refuses', 'is a black hole', 'breaks in mid-reply', 'is slow', 'is started again'];

describe.each(backends)('while %s', (backend) => {
  it.each(outages)(
    '%s, every request ends in time with the truth, and soon after all is well',
    async (outage) => {
      const end = begin(outage, backend);
      const asked = await askUntilNoticed(outage);
      await end();
      const mended = performance.now();
      expect(asked.filter(({ begun, ended }) => ended - begun > deadlineMs)).toEqual([]);
      expect(asked.map(({ status }) => status).filter((status) => !honest.has(status))).toEqual([]);
      // An outage that nobody noticed has shown nothing.
      if (unmissable.has(outage)) expect(asked.some(({ status }) => status >= 500)).toBe(true);
      await until(async () => {
        const answers = await callAll();
        return answers.every(({ status }) => status === 200 || status === 201) || undefined;
      }, 3 * mendedWithinMs);
      expect(performance.now() - mended).toBeLessThan(mendedWithinMs);
      expect((await fetch(`${product.url}/readyz`)).status).toBe(200);
      expect(site.exits()).toEqual([]);
    },
    120_000,
  );
});
