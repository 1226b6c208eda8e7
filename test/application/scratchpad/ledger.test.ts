import { randomUUID } from 'node:crypto';
import { LedgerAuditor, type AuditorOptions } from '../../../src/application/scratchpad/maintenance/auditor.js';
import { newId } from '../../../src/application/kernel/ids.js';
import { sweep } from '../../../src/application/scratchpad/maintenance/sweep.js';
import { BackendUnavailable } from '../../../src/application/faults/errors.js';
import type { Entry } from '../../../src/application/ports/ledger-store.js';
import type { PadRef } from '../../../src/application/ports/pad-keys.js';
import type { ReadDb } from '../../../src/application/ports/read-models.js';
import { MemoryEventStore } from '../../../src/infrastructure/memory/event-store.js';
import { dataOf, memberOf, memoryApp, refusalOf, type MemoryApp } from '../../support/memory-app.js';

/** An event store that fails on one type of event, as if the process had died before the append. */
class FailingEventStore extends MemoryEventStore {
  failsOn: string | undefined;

  override append(...[stream, expected, events]: Parameters<MemoryEventStore['append']>) {
    if (events.some(({ type }) => type === this.failsOn)) {
      return Promise.reject(new BackendUnavailable('eventstore'));
    }
    return super.append(stream, expected, events);
  }
}

let app: MemoryApp;
let log: FailingEventStore;
let ada: { id: string; key: string };
let now = Date.parse('2026-01-01T12:00:00.000Z');
beforeAll(async () => {
  log = new FailingEventStore();
  app = await memoryApp({ log, clock: { now: () => new Date(now) } });
  ada = await memberOf(app, 'Ada');
});

const call = (name: string, input: unknown, more = {}) => app.call(ada.key, name, input, more);
const idOf = (reply: Awaited<ReturnType<typeof call>>) => dataOf<{ id: string }>(reply).id;
async function newPad() {
  const threadId = idOf(await call('thread.create', {}));
  const scratchpadId = idOf(await call('scratchpad.create', { threadId }));
  return { threadId, scratchpadId, ref: { ownerId: ada.id, scratchpadId } };
}
const append = (scratchpadId: string, content: string, idempotencyKey?: string) =>
  call('scratchpad.entry.append', { scratchpadId, content }, { idempotencyKey });
const filled = async (count: number) => {
  const pad = await newPad();
  for (let n = 1; n <= count; n += 1) await append(pad.scratchpadId, `entry ${n}`);
  return pad;
};
const list = async (scratchpadId: string, more = {}) =>
  (await call('scratchpad.entry.list', { scratchpadId, limit: 100, ...more })).result as {
    data: { index: number; content: string; id: string }[];
    page: { nextCursor: string | null; lost?: unknown };
  };
const view = async (scratchpadId: string) =>
  dataOf<{ text: string; entryCount: number }>(await call('scratchpad.view', { scratchpadId }));
const verify = async (scratchpadId: string) => dataOf(await call('scratchpad.verify', { scratchpadId }));
const recorded = async (scratchpadId: string, type?: string) =>
  (await log.readStream(`scratchpad_ledger-${scratchpadId}`)).filter((event) => !type || event.type === type);

/** What a writer pushes; its process then dies, as often as a test wants. */
const entry = (content: string): Entry => ({
  id: newId('entry', new Date(now)),
  kind: 'note',
  content,
  fields: {},
  author: { type: 'key', id: 'key_1' },
  bytes: content.length,
  sha256: 'ab',
  at: new Date(now).toISOString(),
  correlationId: randomUUID(),
});

/** What the read model of scratchpads answers about ledgers; undefined: it is away. */
let coveredRows: readonly { readonly id: string; readonly highest: number }[] | undefined = [];
/** The places of entries as the audit trail has them. */
const trail: ReadDb = {
  async rows({ text, values }: { text: string; values: readonly unknown[] }) {
    if (text.includes('highest')) {
      if (!coveredRows) throw new BackendUnavailable('postgres');
      return coveredRows;
    }
    const [stream, ids] = text.includes('entryId') ? (values as [string, readonly string[]]) : ['', []];
    const events = (await log.readStream(stream)).filter(
      ({ type, data }) => type === 'scratchpad.entry_appended' && ids.includes(String(data['entryId'])),
    );
    return events.map(({ data }) => ({ ...data, clears: data['clears'] ?? 0 }));
  },
};
const maintenance = () => ({ eventSourcing: app.eventSourcing, scratchpadStore: app.working, reads: trail });
const auditor = (options: AuditorOptions = { graceMs: 0 }) => new LedgerAuditor(maintenance(), options);

describe('an entry whose writer died after the push', () => {
  it('is audited under the id that the writer would have used', async () => {
    const { scratchpadId, ref } = await newPad();
    log.failsOn = 'scratchpad.entry_appended';
    const key = randomUUID();
    expect(refusalOf(await append(scratchpadId, 'pushed', key))).toBe('unavailable');
    log.failsOn = undefined;
    expect(await verify(scratchpadId)).toMatchObject({ ok: false, unaudited: 1 });
    await auditor().auditDirty();
    expect(await verify(scratchpadId)).toMatchObject({ ok: true, entries: 1, audited: 1, unaudited: 0 });
    expect(dataOf(await append(scratchpadId, 'pushed', key))).toMatchObject({ index: 1 });
    expect(await recorded(scratchpadId)).toHaveLength(1);
    expect(await app.working.dirtyPads.take(100)).not.toContainEqual(ref);
  });

  it('is left to its writer while it is young', async () => {
    const { scratchpadId, ref } = await newPad();
    await app.working.ledger.append(ref, entry('under way'));
    const patient = auditor({ graceMs: 3_000 });
    await patient.auditDirty();
    expect(await recorded(scratchpadId)).toEqual([]);
    now += 3_000;
    await patient.auditDirty();
    expect(await recorded(scratchpadId)).toHaveLength(1);
  });

  it('is audited whatever else was audited since', async () => {
    const { scratchpadId, ref } = await filled(3);
    await app.working.ledger.append(ref, entry('forgotten'));
    await append(scratchpadId, 'later');
    await auditor().auditDirty();
    const indexes = (await recorded(scratchpadId)).map(({ data }) => data['index']);
    expect(indexes).toEqual([1, 2, 3, 5, 4]);
  });
});

describe('a pad that is audited again', () => {
  /** Audited once with two entries; then a third came, and the time that its writer is given is over. */
  async function auditedOnce() {
    const pad = await filled(2);
    const patient = auditor({ graceMs: 3_000 });
    now += 3_000;
    await patient.auditDirty();
    await append(pad.scratchpadId, 'the third');
    now += 3_000;
    const isDirty = async () =>
      (await app.working.dirtyPads.take(100)).some(({ scratchpadId }) => scratchpadId === pad.scratchpadId);
    const read = jest.spyOn(log, 'readStream');
    const audit = async () => {
      read.mockClear();
      await patient.auditDirty();
      return read.mock.calls.some(([stream]) => stream.endsWith(pad.scratchpadId));
    };
    return { ...pad, audit, isDirty };
  }
  afterEach(() => {
    coveredRows = [];
    jest.restoreAllMocks();
  });

  it('is in order when its read model says so of all that was there before; its streams are not read', async () => {
    const { scratchpadId, audit, isDirty } = await auditedOnce();
    coveredRows = [{ id: scratchpadId, highest: 3 }];
    expect([await audit(), await isDirty()]).toEqual([false, true]);
    now += 3_000;
    expect([await audit(), await isDirty()]).toEqual([false, false]);
  });

  it.each<[string, (pad: { readonly scratchpadId: string; readonly ref: PadRef }) => unknown]>([
    ['its read model is behind', () => (coveredRows = [])],
    ['its read model cannot say', () => (coveredRows = undefined)],
    ['more is recorded than it contains', ({ scratchpadId }) => (coveredRows = [{ id: scratchpadId, highest: 4 }])],
    ['its keys are gone', ({ ref }) => app.working.keys.destroy(ref)],
    ['a text is on its way into its content', ({ ref }) => app.working.content.stage(ref, 1, randomUUID(), 'text')],
    ['the connection broke', () => app.working.reconnect()],
  ])('is compared with its streams when %s', async (_, happens) => {
    const { scratchpadId, ref, audit } = await auditedOnce();
    coveredRows = [{ id: scratchpadId, highest: 3 }];
    await happens({ scratchpadId, ref });
    expect(await audit()).toBe(true);
  });
});

describe('a pad whose keys go while it is audited', () => {
  it('is audited again, and what it has lost is recorded', async () => {
    const { scratchpadId, ref } = await filled(2);
    const read = app.working.keys.state.bind(app.working.keys);
    let reads = 0;
    const state = jest.spyOn(app.working.keys, 'state').mockImplementation(async (pad) => {
      const there = await read(pad);
      // It is there for the observation and for the comparison with its streams, and then no more.
      if (pad.scratchpadId === scratchpadId && (reads += 1) === 2) await app.working.keys.destroy(ref);
      return there;
    });
    for (let audits = 0; audits < 2; audits += 1) await auditor().auditDirty();
    state.mockRestore();
    const lost = await recorded(scratchpadId, 'scratchpad.entries_lost');
    expect(lost.map(({ data }) => [data['from'], data['to']])).toEqual([[1, 2]]);
    expect(await app.working.keys.exists(ref)).toBe(true);
  });
});

describe('a request to append that is sent again', () => {
  it('answers the first outcome, and nothing is pushed', async () => {
    const { scratchpadId } = await filled(1);
    const key = randomUUID();
    const first = await append(scratchpadId, 'once', key);
    await append(scratchpadId, 'between');
    now += 1_000;
    const again = await append(scratchpadId, 'once', key);
    expect(again.result).toMatchObject({ replayed: true });
    expect(dataOf(again)).toEqual(dataOf(first));
    expect((await list(scratchpadId)).data.map(({ content }) => content)).toEqual(['entry 1', 'once', 'between']);
  });

  it('is a conflict when it asks for something else', async () => {
    const { scratchpadId } = await newPad();
    const key = randomUUID();
    await append(scratchpadId, 'one', key);
    expect(refusalOf(await append(scratchpadId, 'two', key))).toBe('conflict');
  });

  it('does not append again what was cleared since', async () => {
    const { scratchpadId } = await newPad();
    const key = randomUUID();
    const first = dataOf(await append(scratchpadId, 'once', key));
    await call('scratchpad.entry.clear', { scratchpadId });
    expect(dataOf(await append(scratchpadId, 'once', key))).toEqual(first);
    expect((await list(scratchpadId)).data).toEqual([]);
  });

  it('stores the audit event that the first one could not', async () => {
    const { scratchpadId } = await newPad();
    const key = randomUUID();
    log.failsOn = 'scratchpad.entry_appended';
    expect(refusalOf(await append(scratchpadId, 'once', key))).toBe('unavailable');
    log.failsOn = undefined;
    expect(dataOf(await append(scratchpadId, 'once', key))).toMatchObject({ index: 1 });
    expect(await verify(scratchpadId)).toMatchObject({ ok: true, entries: 1, audited: 1 });
  });
});

describe('an entry that stands twice in a ledger', () => {
  it('is shown once, at its first place, on every page, and moves no other', async () => {
    const { scratchpadId, ref } = await newPad();
    const twice = entry('twice');
    await app.working.ledger.append(ref, twice);
    for (let n = 2; n <= 150; n += 1) await app.working.ledger.append(ref, entry(`entry ${n}`));
    await app.working.ledger.append(ref, twice);
    await app.working.ledger.append(ref, entry('last'));
    await auditor().auditDirty();
    const first = await list(scratchpadId);
    const second = await list(scratchpadId, { cursor: first.page.nextCursor });
    const shown = [...first.data, ...second.data];
    expect(shown.filter(({ content }) => content === 'twice').map(({ index }) => index)).toEqual([1]);
    expect(shown.at(-1)).toMatchObject({ index: 152, content: 'last' });
    expect((await recorded(scratchpadId, 'scratchpad.entry_repeated')).map(({ data }) => data)).toEqual([
      { scratchpadId, clears: 0, entryId: twice.id, index: 151, of: 1 },
    ]);
    expect((await view(scratchpadId)).entryCount).toBe(151);
  });

  it('is found when its first place was audited long before', async () => {
    const { scratchpadId, ref } = await newPad();
    const twice = entry('twice');
    await app.working.ledger.append(ref, twice);
    await auditor().auditDirty();
    await append(scratchpadId, 'between');
    await app.working.ledger.append(ref, twice);
    await auditor().auditDirty();
    expect((await recorded(scratchpadId, 'scratchpad.entry_repeated')).map(({ data }) => data['index'])).toEqual([3]);
    expect((await list(scratchpadId)).data.map(({ index }) => index)).toEqual([1, 2]);
  });
});

describe('an entry that was acknowledged, lost, and sent again under its key', () => {
  it('stands at its new place for good, and is audited there', async () => {
    const { scratchpadId, ref } = await filled(1);
    const key = randomUUID();
    expect(dataOf(await append(scratchpadId, 'kept', key))).toMatchObject({ index: 2 });
    app.working.loseTail(ref, 1);
    expect(dataOf(await append(scratchpadId, 'kept', key))).toMatchObject({ index: 3 });
    for (let audits = 0; audits < 2; audits += 1) await auditor().audit(ref);
    const { data, page } = await list(scratchpadId);
    expect(data.map(({ index, content }) => [index, content])).toEqual([
      [1, 'entry 1'],
      [3, 'kept'],
    ]);
    expect(page.lost).toEqual([{ from: 2, to: 2 }]);
    expect(await verify(scratchpadId)).toMatchObject({ entries: 2, audited: 2, repeated: 0, unaudited: 0 });
  });

  it('is recorded as lost again when it is', async () => {
    const { scratchpadId, ref } = await filled(1);
    const key = randomUUID();
    await append(scratchpadId, 'kept', key);
    for (const _ of [1, 2]) {
      app.working.loseTail(ref, 1);
      await append(scratchpadId, 'kept', key);
    }
    app.working.loseTail(ref, 1);
    expect((await list(scratchpadId)).page.lost).toEqual([{ from: 2, to: 4 }]);
  });

  it('is put in order with its ledger, and never dropped', async () => {
    const { scratchpadId, ref } = await filled(2);
    const second = (await app.working.ledger.read(ref, 1, 1))?.entries[0];
    const key = randomUUID();
    await append(scratchpadId, 'kept', key);
    app.working.loseTail(ref, 1);
    await append(scratchpadId, 'kept', key);
    if (second) app.working.bringBack(ref, 1, second);
    await auditor().audit(ref);
    expect((await list(scratchpadId)).data.map(({ content }) => content)).toEqual(['entry 1', 'kept', 'entry 2']);
  });
});

describe('a ledger that has lost its tail', () => {
  it('says so in list, view and verify, and never gives an index twice', async () => {
    const { scratchpadId, ref } = await filled(6);
    app.working.loseTail(ref, 3);
    expect(dataOf(await append(scratchpadId, 'next'))).toMatchObject({ index: 7 });
    const { data, page } = await list(scratchpadId);
    expect(data.map(({ index }) => index)).toEqual([1, 2, 3, 7]);
    expect(page).toEqual({ nextCursor: null, lost: [{ from: 4, to: 6 }] });
    expect(await view(scratchpadId)).toMatchObject({
      text: 'Content:\n(empty)\n\nEntries:\n[1] entry 1\n[2] entry 2\n[3] entry 3\n(entries 4-6 were lost)\n[7] next',
      entryCount: 4,
    });
    expect(await verify(scratchpadId)).toMatchObject({ ok: false, entries: 4, audited: 4, lost: [{ from: 4, to: 6 }] });
  });

  it('says so to who reads first, before anything is written', async () => {
    const { scratchpadId, ref } = await filled(2);
    app.working.loseTail(ref, 1);
    expect((await list(scratchpadId)).page.lost).toEqual([{ from: 2, to: 2 }]);
    expect((await view(scratchpadId)).text).toContain('(entry 2 was lost)');
  });

  it('says so once, however often it is audited', async () => {
    const { scratchpadId, ref } = await filled(3);
    app.working.loseTail(ref, 1);
    for (let rounds = 0; rounds < 3; rounds += 1) {
      await Promise.all([list(scratchpadId), append(scratchpadId, 'more'), auditor().audit(ref)]);
      app.working.reconnect();
    }
    expect(await recorded(scratchpadId, 'scratchpad.entries_lost')).toHaveLength(1);
  });

  it('has lost nothing when only the connection broke', async () => {
    const { scratchpadId } = await filled(3);
    app.working.reconnect();
    await append(scratchpadId, 'next');
    expect((await list(scratchpadId)).page.lost).toBeUndefined();
    expect(await recorded(scratchpadId, 'scratchpad.entries_lost')).toEqual([]);
  });
});

describe('a ledger in which something lost came back', () => {
  /** The third entry is lost, and recorded as lost; then two more are written, and the server comes back with it once more. */
  const cameBack = async () => {
    const pad = await filled(3);
    const third = (await app.working.ledger.read(pad.ref, 2, 1))?.entries[0];
    app.working.loseTail(pad.ref, 2);
    for (const content of ['four', 'five']) await append(pad.scratchpadId, content);
    if (third) app.working.bringBack(pad.ref, 2, third);
    return pad;
  };

  it('has every entry where it was acknowledged, and what came back at a new place', async () => {
    const { scratchpadId } = await cameBack();
    const { data, page } = await list(scratchpadId);
    expect(data.map(({ index, content }) => [index, content])).toEqual([
      [1, 'entry 1'],
      [2, 'entry 2'],
      [4, 'four'],
      [5, 'five'],
      [6, 'entry 3'],
    ]);
    expect(page.lost).toEqual([{ from: 3, to: 3 }]);
    expect(dataOf(await append(scratchpadId, 'seven'))).toMatchObject({ index: 7 });
    await auditor().auditDirty();
    expect(await verify(scratchpadId)).toMatchObject({ entries: 6, audited: 6, mismatches: 0, unaudited: 0 });
  });

  it('says what it lost besides', async () => {
    const { scratchpadId, ref } = await cameBack();
    app.working.loseTail(ref, 5);
    const { data, page } = await list(scratchpadId);
    expect(data.map(({ index }) => index)).toEqual([1, 2, 4, 6]);
    expect(page.lost).toEqual([
      { from: 3, to: 3 },
      { from: 5, to: 5 },
    ]);
  });

  it('keeps what is not recorded yet', async () => {
    const { scratchpadId, ref } = await cameBack();
    await app.working.ledger.append(ref, entry('under way'));
    app.working.reconnect();
    await auditor().auditDirty();
    expect((await list(scratchpadId)).data.map(({ index, content }) => [index, content]).slice(-3)).toEqual([
      [5, 'five'],
      [6, 'entry 3'],
      [7, 'under way'],
    ]);
    expect(await verify(scratchpadId)).toMatchObject({ entries: 6, unaudited: 0 });
  });

  it('is put in order once, however many find it at once', async () => {
    const { scratchpadId } = await cameBack();
    await Promise.all([1, 2, 3].map((n) => append(scratchpadId, `late ${n}`)));
    const { data } = await list(scratchpadId);
    expect(data.map(({ index }) => index)).toEqual([1, 2, 4, 5, 6, 7, 8, 9]);
    await auditor().auditDirty();
    expect(await verify(scratchpadId)).toMatchObject({ entries: 8, audited: 8, mismatches: 0 });
  });
});

describe('a scratchpad whose keys are gone', () => {
  it('goes on with the next index, and says what was lost', async () => {
    const { scratchpadId } = await filled(3);
    app.working.loseEverything();
    const indexes = await Promise.all([1, 2, 3, 4].map((n) => append(scratchpadId, `new ${n}`)));
    expect(indexes.map((reply) => dataOf<{ index: number }>(reply).index).sort()).toEqual([4, 5, 6, 7]);
    expect((await list(scratchpadId)).page.lost).toEqual([{ from: 1, to: 3 }]);
    expect(await recorded(scratchpadId, 'scratchpad.entries_lost')).toHaveLength(1);
  });

  it('says that its content was lost, at the revision that the next writer has to name', async () => {
    const { scratchpadId } = await newPad();
    await call('scratchpad.content.set', { scratchpadId, content: 'the plan' });
    app.working.loseEverything();
    const read = dataOf(await call('scratchpad.content.get', { scratchpadId }));
    expect(read).toMatchObject({ content: '', revision: 1, lost: true });
    expect((await view(scratchpadId)).text).toContain('the latest content was lost');
    expect(await verify(scratchpadId)).toMatchObject({ ok: false, contentSha256Matches: false });
    const set = await call('scratchpad.content.set', { scratchpadId, content: 'anew' }, { ifMatch: '"r1"' });
    expect(dataOf(set)).toMatchObject({ revision: 2 });
    expect(dataOf(await call('scratchpad.content.get', { scratchpadId }))).not.toHaveProperty('lost');
  });

  it('is gone for good once it is deleted, and has lost nothing', async () => {
    const { scratchpadId } = await filled(2);
    await call('scratchpad.delete', { scratchpadId });
    expect(refusalOf(await append(scratchpadId, 'late'))).toBe('not_found');
    expect(await recorded(scratchpadId, 'scratchpad.entries_lost')).toEqual([]);
  });
});

describe('a clear', () => {
  it('that was left half done is finished, with an event for every entry it removed', async () => {
    const { scratchpadId, ref } = await filled(2);
    await app.working.ledger.append(ref, entry('never recorded'));
    await app.working.ledger.clear(ref, 'clear 1');
    await append(scratchpadId, 'after');
    await auditor().auditDirty();
    const types = (await recorded(scratchpadId)).map(({ type, data }) => [type, data['index'] ?? data['count']]);
    expect(types).toEqual([
      ['scratchpad.entry_appended', 1],
      ['scratchpad.entry_appended', 2],
      ['scratchpad.entry_appended', 1],
      ['scratchpad.entry_appended', 3],
      ['scratchpad.entries_cleared', 3],
    ]);
    expect((await app.working.keys.state(ref)).unfinishedClearIds).toEqual([]);
    expect(await verify(scratchpadId)).toMatchObject({ ok: true, entries: 1, audited: 1 });
  });

  it('sent again spares what was appended since', async () => {
    const { scratchpadId } = await filled(2);
    const clear = () => call('scratchpad.entry.clear', { scratchpadId }, { idempotencyKey });
    const idempotencyKey = randomUUID();
    expect(dataOf(await clear())).toMatchObject({ count: 2 });
    await append(scratchpadId, 'since');
    const again = await clear();
    expect(dataOf(again)).toMatchObject({ count: 2 });
    expect(again.result).toMatchObject({ replayed: true });
    expect((await list(scratchpadId)).data).toHaveLength(1);
  });

  it('is not taken for a loss by entries whose events come late', async () => {
    const { scratchpadId } = await filled(3);
    await call('scratchpad.entry.clear', { scratchpadId });
    const [first] = await recorded(scratchpadId);
    for (let filler = 0; filler < 1_100; filler += 1)
      await log.append(`other-${scratchpadId}`, 'any', [{ id: randomUUID(), type: 'x', data: {}, metadata: {} }]);
    await log.append(`scratchpad_ledger-${scratchpadId}`, 'any', first ? [first] : []);
    app.working.reconnect();
    expect(dataOf(await append(scratchpadId, 'first again'))).toMatchObject({ index: 1 });
    expect(await recorded(scratchpadId, 'scratchpad.entries_lost')).toEqual([]);
  });

  it('lets a reader who was under way go on with what was appended since, or stop', async () => {
    const { scratchpadId } = await filled(5);
    const [forwards, backwards] = [
      await list(scratchpadId, { limit: 3 }),
      await list(scratchpadId, { limit: 3, order: 'desc' }),
    ];
    await call('scratchpad.entry.clear', { scratchpadId });
    for (const content of ['a', 'b']) await append(scratchpadId, content);
    const on = await list(scratchpadId, { limit: 3, cursor: forwards.page.nextCursor });
    expect(on.data.map(({ content }) => content)).toEqual(['a', 'b']);
    const back = await list(scratchpadId, { limit: 3, order: 'desc', cursor: backwards.page.nextCursor });
    expect(back).toMatchObject({ data: [], page: { nextCursor: null } });
  });
});

describe('a text on its way into the content', () => {
  it('is promoted when it was committed and its writer died', async () => {
    const { scratchpadId, ref } = await newPad();
    const promote = jest.spyOn(app.working.content, 'promote').mockResolvedValueOnce(true);
    await call('scratchpad.content.set', { scratchpadId, content: 'the plan' });
    promote.mockRestore();
    expect(await app.working.content.read(ref)).toMatchObject({ revision: 0 });
    await auditor().auditDirty();
    expect(await app.working.content.read(ref)).toMatchObject({ revision: 1, content: 'the plan' });
  });

  it('is staged anew by its own writer when Redis lost it before it was promoted', async () => {
    const { scratchpadId, ref } = await newPad();
    const key = randomUUID();
    const set = () => call('scratchpad.content.set', { scratchpadId, content: 'the plan' }, { idempotencyKey: key });
    const read = async () => dataOf(await call('scratchpad.content.get', { scratchpadId }));
    const promote = jest.spyOn(app.working.content, 'promote').mockImplementationOnce((...named) => {
      app.working.loseStaged(ref);
      promote.mockRestore();
      return app.working.content.promote(...named);
    });
    expect(refusalOf(await set())).toBe('ok');
    expect(await read()).toMatchObject({ content: 'the plan', revision: 1 });
    expect(await read()).not.toHaveProperty('lost');
    app.working.loseEverything();
    expect(await read()).toMatchObject({ content: '', lost: true });
    expect((await set()).result).toMatchObject({ replayed: true });
    expect(await read()).toMatchObject({ content: 'the plan', revision: 1 });
  });

  it('is dropped when it was never committed, once its writer must be dead', async () => {
    const { ref } = await newPad();
    await app.working.content.stage(ref, 1, randomUUID(), 'never to be');
    const patient = auditor({ graceMs: 0, staleAfterMs: 60_000 });
    await patient.auditDirty();
    now += 59_000;
    await patient.auditDirty();
    expect((await app.working.keys.state(ref)).staged).toHaveLength(1);
    now += 1_000;
    await patient.auditDirty();
    expect((await app.working.keys.state(ref)).staged).toEqual([]);
  });
});

describe('a sweep through the scratchpad store', () => {
  it('leaves alone what lives', async () => {
    const { scratchpadId, ref } = await filled(2);
    await sweep(maintenance(), auditor(), true);
    expect(await app.working.keys.exists(ref)).toBe(true);
    expect(await verify(scratchpadId)).toMatchObject({ ok: true, entries: 2 });
  });

  it('removes what a dead pad left behind', async () => {
    const { scratchpadId, ref } = await filled(1);
    await call('scratchpad.delete', { scratchpadId });
    await app.working.keys.create(ref, new Date(now).toISOString());
    expect((await sweep(maintenance(), auditor(), false)).destroyed).toBe(1);
    expect(await app.working.keys.exists(ref)).toBe(false);
  });

  it('leaves alone what no stream knows, however old it is, and counts it', async () => {
    const unknown = { ownerId: ada.id, scratchpadId: newId('scratchpad', new Date(now)) };
    await app.working.keys.create(unknown, new Date(now).toISOString());
    now += 24 * 60 * 60_000;
    expect(await sweep(maintenance(), auditor(), false)).toMatchObject({ destroyed: 0, unknown: 1 });
    expect(await app.working.keys.exists(unknown)).toBe(true);
  });

  it('removes a pad that its thread let go of while it was made', async () => {
    const { threadId, scratchpadId, ref } = await newPad();
    // As if the slot had been emptied before the pad had a stream to end.
    const emptied = { type: 'thread.deleted', data: { threadId, scratchpadId } };
    const [attached] = (await log.readStream(`thread-${threadId}`)).slice(-1);
    await log.append(`thread-${threadId}`, 'any', [
      { ...emptied, id: randomUUID(), metadata: attached?.metadata ?? {} },
    ]);
    await sweep(maintenance(), auditor(), false);
    expect(await app.working.keys.exists(ref)).toBe(false);
    expect((await log.readStream(`scratchpad-${scratchpadId}`)).at(-1)?.type).toBe('scratchpad.deleted');
  });
});

describe('a scratchpad whose thread is deleted while it is made', () => {
  it('is removed by the process that made it, though there was no stream to end at the time', async () => {
    const threadId = idOf(await call('thread.create', {}));
    const store = log.append.bind(log);
    const appends = jest.spyOn(log, 'append').mockImplementation(async (...[stream, expected, events]) => {
      if (events[0]?.type === 'scratchpad.created') {
        appends.mockRestore();
        // Another process, which finds no stream of the scratchpad to end.
        const deleted = { type: 'thread.deleted', data: { threadId, scratchpadId: events[0].data['scratchpadId'] } };
        await store(`thread-${threadId}`, 'any', [{ ...deleted, id: randomUUID(), metadata: events[0].metadata }]);
      }
      return store(stream, expected, events);
    });
    expect(refusalOf(await call('scratchpad.create', { threadId }))).toBe('not_found');
    const scratchpadId = String((await log.readStream(`thread-${threadId}`)).at(-1)?.data['scratchpadId']);
    expect(await app.working.keys.exists({ ownerId: ada.id, scratchpadId })).toBe(false);
    const types = (await log.readStream(`scratchpad-${scratchpadId}`)).map(({ type }) => type);
    expect(types).toEqual(['scratchpad.created', 'scratchpad.deleted']);
  });
});

describe('fifty entries appended at once', () => {
  it('are fifty entries, one order, all audited, in every one of ten rounds', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { scratchpadId } = await newPad();
      await Promise.all(Array.from({ length: 50 }, (_, n) => append(scratchpadId, `entry ${n}`, randomUUID())));
      const { data } = await list(scratchpadId);
      expect(data.map(({ index }) => index)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
      expect(await verify(scratchpadId)).toMatchObject({ ok: true, entries: 50, audited: 50 });
    }
  });
});
