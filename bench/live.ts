import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { figure, p50, p99 } from './support/figures.js';
import { startProduct } from './support/product.js';

const appends = 300;
const manyListeners = 200;

/** Listens like a client that notes when each entry came; answers once the server has said where it begins. */
async function listen(
  url: string,
  key: string,
  heard: (content: string, at: number) => void,
): Promise<IncomingMessage> {
  const call = request(url, { headers: { authorization: `Bearer ${key}` } });
  call.end();
  const [response] = (await once(call, 'response')) as [IncomingMessage]; // as node documents it
  let text = '';
  response.on('data', (chunk: Buffer) => {
    const at = performance.now();
    text += chunk.toString();
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const content = /"content":"(\d+)"/.exec(block)?.[1];
      if (content !== undefined) heard(content, at);
    }
  });
  response.on('error', () => undefined); // Left at the end.
  await once(response, 'data');
  return response;
}

/** From an entry's request to its arrival at listeners, and of the acknowledgement to the writer, in milliseconds. */
async function latency(url: string, key: string, pad: string, listeners: number) {
  const path = `${url}/v1/scratchpads/${pad}`;
  const sent = new Map<string, number>();
  const arrivals: number[] = [];
  const acknowledged: number[] = [];
  let number = 0;
  const responses = await Promise.all(
    Array.from({ length: listeners }, () =>
      listen(`${path}/events`, key, (content, at) => arrivals.push(at - (sent.get(content) ?? NaN))),
    ),
  );
  for (; number < appends; number += 1) {
    const content = String(number);
    const begun = performance.now();
    sent.set(content, begun);
    const response = await fetch(`${path}/entries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ content }),
    });
    await response.arrayBuffer();
    acknowledged.push(performance.now() - begun);
    await pause(5);
  }
  while (arrivals.length < appends * listeners) await pause(10);
  for (const response of responses) response.destroy();
  return { arrivals, acknowledged };
}

async function main(): Promise<void> {
  const product = await startProduct();
  const call = async (key: string, path: string, body: unknown) => {
    const response = await fetch(`${product.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return ((await response.json()) as { data: Record<string, unknown> & { key: { key: string }; id: string } }).data;
  };
  try {
    const { key } = (await call(product.adminKey, '/v1/users', { name: 'Bench' })).key;
    const newPad = async () => {
      const threadId = (await call(key, '/v1/threads', {})).id;
      return (await call(key, '/v1/scratchpads', { threadId })).id;
    };
    await latency(product.url, key, await newPad(), 1); // warm
    const one = await latency(product.url, key, await newPad(), 1);
    figure('an entry is acknowledged to its writer, p50', `${p50(one.acknowledged).toFixed(1)} ms`);
    figure('request of an entry to 1 subscriber, p50', `${p50(one.arrivals).toFixed(1)} ms`, '<= 15 ms');
    figure('request of an entry to 1 subscriber, p99', `${p99(one.arrivals).toFixed(1)} ms`);
    const beyond = p50(one.arrivals) / p50(one.acknowledged);
    figure('…beside its acknowledgement', `${beyond.toFixed(2)} x`);
    const many = await latency(product.url, key, await newPad(), manyListeners);
    figure(`request of an entry to each of ${manyListeners} subscribers, p50`, `${p50(many.arrivals).toFixed(1)} ms`);
    figure(`request of an entry to each of ${manyListeners} subscribers, p99`, `${p99(many.arrivals).toFixed(1)} ms`);
  } finally {
    await product.stop();
  }
}

void main();
