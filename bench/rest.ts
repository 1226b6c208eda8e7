import autocannon from 'autocannon';
import { startRestFloor } from './rest-floor.js';
import { figure, median } from './support/figures.js';
import { startProduct } from './support/product.js';

const connections = 64;
const seconds = 4;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);

interface Load {
  readonly url: string;
  readonly key: string;
  readonly method: 'GET' | 'POST';
  readonly body?: string;
  readonly paths?: readonly string[];
}

/** Requests a second that were answered with success; anything else fails the run. */
async function rate({ url, key, method, body, paths }: Load): Promise<{ perSecond: number; p99: number }> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body }),
    ...(paths && { requests: paths.map((path) => ({ path })) }),
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} errors`);
  return { perSecond: result.requests.average, p99: result.latency.p99 };
}

/** Runs loads in turn, so that what else the machine does meets all of them. */
async function interleaved<Name extends string>(
  loads: Record<Name, Load>,
): Promise<Record<Name, { perSecond: number; p99: number }>> {
  const names = Object.keys(loads) as Name[]; // the keys of this very record
  const seen = new Map<Name, { perSecond: number; p99: number }[]>(names.map((name) => [name, []]));
  for (const name of names) await rate(loads[name]); // warm
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) seen.get(name)?.push(await rate(loads[name]));
  }
  const medians = names.map((name) => {
    const runs = seen.get(name) ?? [];
    return [
      name,
      { perSecond: median(runs.map((run) => run.perSecond)), p99: median(runs.map((run) => run.p99)) },
    ] as const;
  });
  return Object.fromEntries(medians) as Record<Name, { perSecond: number; p99: number }>; // one for each name
}

async function main(): Promise<void> {
  const product = await startProduct();
  const floor = await startRestFloor({ redis: product.redisUrl, postgres: product.databaseUrl });
  const call = async (key: string, method: string, path: string, body?: unknown) => {
    const response = await fetch(`${product.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return ((await response.json()) as { data: Record<string, unknown> & { key: { key: string }; id: string } }).data;
  };
  try {
    const key = (await call(product.adminKey, 'POST', '/v1/users', { name: 'Bench' })).key.key;
    const newPad = async () => {
      const thread = (await call(key, 'POST', '/v1/threads', { title: 'bench' })).id;
      return { thread, pad: (await call(key, 'POST', '/v1/scratchpads', { threadId: thread })).id };
    };
    const hot = await newPad();
    const many = await Promise.all(Array.from({ length: 64 }, newPad));
    const body = JSON.stringify({ content: 'x'.repeat(200) });
    const post = { key, method: 'POST', body } as const;
    const appends = await interleaved({
      floor: { ...post, key: floor.key, url: floor.appendUrl },
      hot: { ...post, url: `${product.url}/v1/scratchpads/${hot.pad}/entries` },
      many: { ...post, url: product.url, paths: many.map(({ pad }) => `/v1/scratchpads/${pad}/entries`) },
    });
    const ratio = (one: { perSecond: number }, of: { perSecond: number }) =>
      `${(one.perSecond / of.perSecond).toFixed(2)} x (${one.perSecond.toFixed(0)}/s)`;
    figure('append floor: express + zod + RPUSH, 64 connections', `${appends.floor.perSecond.toFixed(0)}/s`);
    figure('append an entry, one hot pad', ratio(appends.hot, appends.floor), '>= 0.6 x floor');
    figure('append an entry, 64 pads', ratio(appends.many, appends.floor), '>= 0.6 x floor');
    figure('p99 on the hot pad at full load', `${appends.hot.p99} ms`);

    const gets = await interleaved({
      floor: { key: floor.key, method: 'GET', url: floor.getUrl },
      get: { key, method: 'GET', url: `${product.url}/v1/threads/${hot.thread}` },
    });
    figure('get floor: express + pg by primary key, 64 connections', `${gets.floor.perSecond.toFixed(0)}/s`);
    figure('get a thread by id', ratio(gets.get, gets.floor), '>= 0.6 x floor');
  } finally {
    await floor.stop();
    await product.stop();
  }
}

void main();
