import { LiveStream, type LiveMessage } from '../../../src/application/gateway/live-stream.js';
import type { EventStore } from '../../../src/application/ports/event-store.js';
import { isRefusal } from '../../../src/domain/kernel/refusal.js';
import { makeLiveFeed } from '../../../src/application/event-sourcing/live-feed/live-feed.js';
import { MemoryEventStore } from '../../../src/infrastructure/memory/event-store.js';
import { dataOf, memberOf, memoryApp, refusalOf, type MemoryApp } from '../../support/memory-app.js';
import { stored, threadUpdated } from '../../support/stored.js';

let app: MemoryApp;
let ada: { id: string; key: string };
beforeEach(async () => {
  app = await memoryApp();
  ada = await memberOf(app, 'Ada');
});
afterEach(() => app.live.close());

const idIn = (data: Record<string, unknown>) => String(data['id']);

async function newPad(): Promise<string> {
  const threadId = idIn(dataOf(await app.call(ada.key, 'thread.create')));
  return idIn(dataOf(await app.call(ada.key, 'scratchpad.create', { threadId })));
}

async function follow(scratchpadId: string, lastEventId?: string, key = ada.key): Promise<LiveStream> {
  const input = { scratchpadId, ...(lastEventId !== undefined && { lastEventId }) };
  const { result } = await app.call(key, 'scratchpad.events', input);
  if (isRefusal(result) || !(result.data instanceof LiveStream)) throw new Error('refused');
  return result.data;
}

async function take(reply: LiveStream, count: number): Promise<readonly LiveMessage[]> {
  const messages: LiveMessage[] = [];
  while (messages.length < count) {
    const { value } = await reply.next();
    if (value === undefined) throw new Error(`ended after ${messages.length}`);
    messages.push(value);
  }
  return messages;
}

const append = (scratchpadId: string, content: string) =>
  app.call(ada.key, 'scratchpad.entry.append', { scratchpadId, content });
const contents = (messages: readonly LiveMessage[]) =>
  messages.map(({ data }) => (data as { content?: unknown }).content);

describe('the events of a scratchpad', () => {
  it('carry entries with their words, changes of the content without, and the end', async () => {
    const scratchpadId = await newPad();
    const reply = await follow(scratchpadId);
    await append(scratchpadId, 'whales sleep upright');
    await app.call(ada.key, 'scratchpad.content.set', { scratchpadId, content: 'a secret plan' });
    await app.call(ada.key, 'scratchpad.content.clear', { scratchpadId });
    await app.call(ada.key, 'scratchpad.entry.clear', { scratchpadId });
    await app.call(ada.key, 'scratchpad.delete', { scratchpadId });
    const messages = await take(reply, 6);
    expect(messages.map(({ event }) => event)).toEqual([
      'scratchpad.entry_appended',
      'scratchpad.content_set',
      'scratchpad.content_cleared',
      'scratchpad.entries_cleared',
      'scratchpad.deleted',
      'done',
    ]);
    expect(messages[1]?.data).toMatchObject({ revision: 1, bytes: 13 });
    expect(messages[3]?.data).toMatchObject({ scratchpadId, count: 1 });
    expect(messages[5]).toEqual({ event: 'done', data: { reason: 'deleted' } });
    expect(JSON.stringify(messages)).not.toContain('secret plan');
    expect((await reply.next()).done).toBe(true);
  });

  it('carry the words of an entry as the list shows them', async () => {
    const scratchpadId = await newPad();
    const reply = await follow(scratchpadId);
    const entry = dataOf(await append(scratchpadId, 'whales sleep upright'));
    const [message] = await take(reply, 1);
    expect(message).toMatchObject({ event: 'scratchpad.entry_appended', data: entry });
    await reply.return();
  });

  it('have positions for ids, and go on after any of them without gap or repeat', async () => {
    const scratchpadId = await newPad();
    for (const words of ['one', 'two', 'three', 'four']) await append(scratchpadId, words);
    const all = await follow(scratchpadId, '0');
    const first = await take(all, 4);
    await all.return();
    const ids = first.map(({ id = '' }) => BigInt(id));
    expect(ids).toEqual([...ids].sort((a, b) => (a < b ? -1 : 1)));
    for (const [place, { id }] of first.entries()) {
      const reply = await follow(scratchpadId, id);
      await append(scratchpadId, `after ${place}`);
      const seen = contents(await take(reply, 4));
      expect(seen.slice(0, 3 - place)).toEqual(['one', 'two', 'three', 'four'].slice(place + 1));
      await reply.return();
    }
  });

  it('begin at a position from which a follower cut off before the first event misses nothing', async () => {
    const scratchpadId = await newPad();
    const cut = await follow(scratchpadId);
    await cut.return();
    await append(scratchpadId, 'while away');
    const reply = await follow(scratchpadId, cut.after.toString());
    expect(contents(await take(reply, 1))).toEqual(['while away']);
    await reply.return();
  });

  it('have no words for entries that were cleared meanwhile', async () => {
    const scratchpadId = await newPad();
    await append(scratchpadId, 'gone');
    await app.call(ada.key, 'scratchpad.entry.clear', { scratchpadId });
    await append(scratchpadId, 'here');
    const reply = await follow(scratchpadId, '0');
    expect(contents(await take(reply, 3))).toEqual([null, undefined, 'here']);
    await reply.return();
  });

  it('are read from the streams by a follower that was too slow to take them', async () => {
    const scratchpadId = await newPad();
    const reply = await follow(scratchpadId);
    await append(scratchpadId, 'entry 0');
    await take(reply, 1);
    const words = Array.from({ length: 1_500 }, (_, n) => `entry ${n + 1}`);
    for (const content of words) await append(scratchpadId, content);
    expect(contents(await take(reply, 1_500))).toEqual(words);
    await reply.return();
  });

  it('pass over what a later version stored', async () => {
    const scratchpadId = await newPad();
    const reply = await follow(scratchpadId);
    const event = await stored(app.subjects, ada.id, threadUpdated('thread_1', 'title'));
    await app.log.append(`scratchpad_ledger-${scratchpadId}`, 'any', [{ ...event, type: 'scratchpad.dreamt' }]);
    await append(scratchpadId, 'known');
    expect(contents(await take(reply, 1))).toEqual(['known']);
    await reply.return();
  });

  it('arrive in full when their words are many', async () => {
    const scratchpadId = await newPad();
    const words = Array.from({ length: 12 }, (_, n) => `${n} ${'x'.repeat(60_000)}`);
    for (const content of words) await append(scratchpadId, content);
    const reply = await follow(scratchpadId, '0');
    expect(contents(await take(reply, 12))).toEqual(words);
    await reply.return();
  });

  it('cost one subscription, however many follow', async () => {
    const log = new MemoryEventStore();
    const subscribe = jest.spyOn(log, 'subscribe');
    app = await memoryApp({ log });
    ada = await memberOf(app, 'Ada');
    const scratchpadId = await newPad();
    const replies = await Promise.all(Array.from({ length: 100 }, () => follow(scratchpadId)));
    await append(scratchpadId, 'heard by all');
    const heard = await Promise.all(replies.map((reply) => take(reply, 1)));
    expect(new Set(heard.flatMap(contents))).toEqual(new Set(['heard by all']));
    expect(subscribe).toHaveBeenCalledTimes(1);
    for (const reply of replies) await reply.return();
  });

  it('read the words of an entry once for all who are up to date', async () => {
    const scratchpadId = await newPad();
    const replies = await Promise.all(Array.from({ length: 50 }, () => follow(scratchpadId)));
    const heard = Promise.all(replies.map((reply) => take(reply, 1)));
    const read = jest.spyOn(app.working.ledger, 'read');
    await append(scratchpadId, 'heard by all');
    expect(new Set((await heard).flatMap(contents))).toEqual(new Set(['heard by all']));
    expect(read.mock.calls.length).toBeLessThan(5);
    for (const reply of replies) await reply.return();
  });

  it('are not shown to another tenant, whatever id they go on after', async () => {
    const scratchpadId = await newPad();
    const eve = await memberOf(app, 'Eve');
    for (const lastEventId of [undefined, '0', '64']) {
      const reply = await app.call(eve.key, 'scratchpad.events', { scratchpadId, lastEventId });
      expect(refusalOf(reply)).toBe('not_found');
    }
  });

  it.each(['', 'x', '-1', '1.5', '99999999999999999999', '9999999999999999999', '1, 2'])(
    'cannot go on after %j',
    async (lastEventId) => {
      const reply = await app.call(ada.key, 'scratchpad.events', { scratchpadId: await newPad() }, { lastEventId });
      expect(refusalOf(reply)).toBe('validation_failed');
    },
  );

  it('go on after what the header says, when the address says something older', async () => {
    const scratchpadId = await newPad();
    for (const words of ['one', 'two']) await append(scratchpadId, words);
    const all = await follow(scratchpadId, '0');
    const [first] = await take(all, 1);
    await all.return();
    const more = { lastEventId: first?.id };
    const { result } = await app.call(ada.key, 'scratchpad.events', { scratchpadId, lastEventId: '0' }, more);
    const reply = dataOf<LiveStream>({ result, correlationId: '' });
    expect(contents(await take(reply, 1))).toEqual(['two']);
    await reply.return();
  });

  it('end when the key is revoked, and say so', async () => {
    const scratchpadId = await newPad();
    const other = dataOf<{ id: string; key: string }>(await app.call(ada.key, 'key.create', { name: 'other' }));
    const reply = await follow(scratchpadId, undefined, other.key);
    await app.call(ada.key, 'key.revoke', { keyId: other.id });
    const [message] = await take(reply, 1);
    expect(message).toEqual({ event: 'done', data: { reason: 'authorization_ended' } });
    await append(scratchpadId, 'unheard');
    expect((await reply.next()).done).toBe(true);
  });

  it('end from our side with a reason, also while nothing happens', async () => {
    const reply = await follow(await newPad());
    const waiting = reply.next();
    reply.end('server_stopping');
    expect((await waiting).value).toEqual({ event: 'done', data: { reason: 'server_stopping' } });
  });

  it('can be left while nothing happens', async () => {
    const reply = await follow(await newPad());
    const waiting = reply.next();
    await reply.return();
    expect((await waiting).done).toBe(true);
  });
});

describe('live events', () => {
  const ownerId = 'user_1';
  const selection = { ownerId, streams: ['thread-a', 'thread-b'], after: 0n };

  async function put(log: EventStore, stream: string, owner = ownerId) {
    const event = await stored(app.subjects, owner, threadUpdated(stream, 'title'));
    await log.append(stream, 'any', [event]);
    return event.id;
  }

  it('merge streams in the order of the log, what is stored and what comes, over many pages', async () => {
    const log = new MemoryEventStore();
    const live = makeLiveFeed(log);
    const ids: string[] = [];
    for (let n = 0; n < 900; n += 1) ids.push(await put(log, n % 7 === 0 ? 'thread-a' : 'thread-b'));
    const stop = new AbortController();
    const seen: string[] = [];
    for await (const batch of live.follow(selection, stop.signal)) {
      seen.push(...batch.map(({ id }) => id));
      if (ids.length < 920) ids.push(await put(log, 'thread-a'), await put(log, 'thread-b'));
      else if (seen.length === ids.length) stop.abort();
    }
    expect(seen).toEqual(ids);
    await live.close();
  });

  it("leave out other owners' events, even on the same stream", async () => {
    const log = new MemoryEventStore();
    const live = makeLiveFeed(log);
    await put(log, 'thread-a', 'user_2');
    const own = await put(log, 'thread-a');
    const stop = new AbortController();
    const seen: string[] = [];
    for await (const batch of live.follow(selection, stop.signal)) {
      seen.push(...batch.map(({ id }) => id));
      if (seen.length > 0) stop.abort();
    }
    expect(seen).toEqual([own]);
    await live.close();
  });

  it('carry an event once that was stored twice under one id', async () => {
    const log = new MemoryEventStore();
    const live = makeLiveFeed(log);
    const event = await stored(app.subjects, ownerId, threadUpdated('a', 'title'));
    await log.append('thread-a', 'none', [event]);
    await log.append('thread-b', 'none', [event]);
    const last = await put(log, 'thread-a');
    const stop = new AbortController();
    const seen: string[] = [];
    for await (const batch of live.follow(selection, stop.signal)) {
      seen.push(...batch.map(({ id }) => id));
      if (seen.at(-1) === last) stop.abort();
    }
    expect(seen).toEqual([event.id, last]);
    await live.close();
  });

  it('begin again after a start that failed', async () => {
    const log = new MemoryEventStore();
    jest.spyOn(log, 'headPosition').mockRejectedValueOnce(new Error('away'));
    const live = makeLiveFeed(log);
    await expect(live.position()).rejects.toThrow('away');
    await expect(live.position()).resolves.toBe(0n);
    await live.close();
  });

  it('carry the latest position of an owner, and of nobody else', async () => {
    const log = new MemoryEventStore();
    const live = makeLiveFeed(log);
    const stop = new AbortController();
    const positions = live.positions(ownerId, stop.signal)[Symbol.asyncIterator]();
    expect((await positions.next()).value).toBe(0n);
    const first = positions.next();
    await put(log, 'thread-a', 'user_2');
    await put(log, 'thread-a');
    expect((await first).value).toBe((await log.lastEvent('thread-a'))?.position);
    stop.abort();
    expect((await positions.next()).done).toBe(true);
    await live.close();
  });
});
