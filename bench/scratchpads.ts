import autocannon from 'autocannon';
import { setTimeout as pause } from 'node:timers/promises';
import { openScratchpadStore } from '../src/infrastructure/redis/scratchpad-store/scratchpad-store.js';
import { figure, p50, p99 } from './support/figures.js';
import { startProduct } from './support/product.js';

const longLedger = 100_000;

/** A ledger of 100,000 entries against an empty one, reads from anywhere in it, and appends at a steady pace. */
async function main(): Promise<void> {
  const product = await startProduct();
  const working = openScratchpadStore(product.redisUrl);
  const headers = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
  const call = async (key: string, method: string, path: string, body?: unknown) => {
    const init = { method, headers: headers(key), ...(body !== undefined && { body: JSON.stringify(body) }) };
    const response = await fetch(`${product.url}${path}`, init);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
    return (await response.json()) as {
      data: { id: string; key: { key: string } };
      page?: { nextCursor: string | null };
    };
  };
  try {
    const made = (await call(product.adminKey, 'POST', '/v1/users', { name: 'Bench' })).data as unknown as {
      user: { id: string };
      key: { key: string };
    };
    const key = made.key.key;
    const newPad = async () => {
      const thread = (await call(key, 'POST', '/v1/threads')).data.id;
      return (await call(key, 'POST', '/v1/scratchpads', { threadId: thread })).data.id;
    };
    const append = async (pad: string, seconds: number) => {
      const result = await autocannon({
        url: `${product.url}/v1/scratchpads/${pad}/entries`,
        connections: 64,
        duration: seconds,
        method: 'POST',
        headers: headers(key),
        body: JSON.stringify({ content: 'x'.repeat(200) }),
      });
      if (result.non2xx > 0) throw new Error(`${result.non2xx} appends were refused`);
      return result.requests.average;
    };

    // The long ledger is filled through the API itself, by as many writers as make it quick.
    const [long, empty, thousand, paced] = [await newPad(), await newPad(), await newPad(), await newPad()];
    const lengthOf = async (pad: string) =>
      (await working.ledger.read({ ownerId: made.user.id, scratchpadId: pad }, 0, 0))?.length ?? 0;
    while ((await lengthOf(long)) < longLedger) await append(long, 5);
    const rates = { long: [] as number[], empty: [] as number[] };
    for (let round = 0; round < 3; round += 1) {
      rates.empty.push(await append(round === 0 ? empty : await newPad(), 4));
      rates.long.push(await append(long, 4));
    }
    figure(
      `append to ${await lengthOf(long)} entries / to an empty pad`,
      (p50(rates.long) / p50(rates.empty)).toFixed(2),
      '>= 0.95',
    );

    const timed = async (work: () => Promise<unknown>, times: number) => {
      const taken: number[] = [];
      for (let n = 0; n < times; n += 1) {
        const begun = performance.now();
        await work();
        taken.push(performance.now() - begun);
      }
      return taken;
    };
    for (const order of ['asc', 'desc']) {
      let cursor = '';
      const pages = await timed(async () => {
        const page = await call(key, 'GET', `/v1/scratchpads/${long}/entries?limit=100&order=${order}${cursor}`);
        cursor = page.page?.nextCursor ? `&cursor=${page.page.nextCursor}` : '';
      }, 100);
      figure(
        `page of 100 of them (${order})`,
        `p50 ${p50(pages).toFixed(1)} ms, p99 ${p99(pages).toFixed(1)} ms`,
        'p50 <= 5 ms',
      );
    }
    while ((await lengthOf(thousand)) < 1_000) {
      await Promise.all(
        Array.from({ length: 50 }, () =>
          call(key, 'POST', `/v1/scratchpads/${thousand}/entries`, { content: 'x'.repeat(200) }),
        ),
      );
    }
    const views = await timed(() => call(key, 'GET', `/v1/scratchpads/${thousand}/view`), 50);
    figure('view of 1,000 entries', `p50 ${p50(views).toFixed(1)} ms`, 'p50 <= 20 ms');

    const taken: number[] = [];
    const running: Promise<void>[] = [];
    for (let n = 0; n < 2_000; n += 1) {
      const begun = performance.now();
      running.push(
        call(key, 'POST', `/v1/scratchpads/${paced}/entries`, { content: 'x'.repeat(200) }).then(
          () => void taken.push(performance.now() - begun),
        ),
      );
      await pause(5);
    }
    await Promise.all(running);
    figure('appends at 200/s', `p50 ${p50(taken).toFixed(1)} ms, p99 ${p99(taken).toFixed(1)} ms`, 'p99 <= 25 ms');
  } finally {
    await working.close();
    await product.stop();
  }
}

void main();
