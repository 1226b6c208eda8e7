import type { DecodedEvent } from '../../../src/application/event-sourcing/codec.js';
import { BackendUnavailable } from '../../../src/application/faults/errors.js';
import { CheckpointMoved } from '../../../src/application/ports/reaction-journal.js';
import type { Reaction } from '../../../src/application/reactions/reaction.js';
import { runReactions } from '../../../src/application/reactions/runner.js';
import { scratchpadReaction } from '../../../src/application/reactions/scratchpads.js';
import { MemoryEventStore } from '../../../src/infrastructure/memory/event-store.js';
import { MemoryReactionJournal } from '../../../src/infrastructure/memory/reaction-journal.js';
import { MemoryPersonalDataKeys } from '../../../src/infrastructure/memory/personal-data-keys.js';
import { memoryApp } from '../../support/memory-app.js';
import { quiet, uncounted } from '../../support/quiet.js';
import { stored, threadCreated, threadDeleted } from '../../support/stored.js';
import { eventually } from '../../support/eventually.js';

const subjects = new MemoryPersonalDataKeys();

let events: MemoryEventStore;
let seen: string[];
let journal: MemoryReactionJournal;
const running: Run[] = [];

interface Run {
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

const faults = {
  isOutage: () => false,
  nameOf: (fault: unknown) => (fault instanceof Error ? fault.constructor.name : typeof fault),
};

/** Notes the titles of threads that are made; `effect` may throw before. */
const noting = (effect: (event: DecodedEvent) => void = () => undefined): Reaction => ({
  name: 'noting',
  on: {
    'thread.created': (event) => {
      effect(event);
      seen.push(String(event.data['title']));
      return Promise.resolve();
    },
  },
});

function react(...reactions: readonly Reaction[]): Run {
  const stop = new AbortController();
  const ended = runReactions(
    { events, personalDataKeys: subjects, reactions, faults, logger: quiet, metrics: uncounted, pauseMs: 1 },
    journal,
    stop.signal,
  );
  const run = {
    ended,
    close: () => {
      stop.abort();
      return ended;
    },
  };
  running.push(run);
  return run;
}

async function create(...titles: readonly string[]): Promise<void> {
  for (const title of titles) {
    await events.append(`thread-${title}`, 'none', [await stored(subjects, 'ann', threadCreated(title, 'ann', title))]);
  }
}

const sawAll = (count: number) =>
  eventually(
    () => seen,
    ({ length }) => length >= count,
  );
const parked = async () => (await journal.parked()).map(({ reaction, stream, fault }) => ({ reaction, stream, fault }));

beforeEach(() => {
  journal = new MemoryReactionJournal();
  events = new MemoryEventStore();
  seen = [];
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((run) => run.close()));
});

describe('a reaction', () => {
  it('happens for each event of its types, in order, opened', async () => {
    await create('a', 'b');
    react(noting());
    await events.append('thread-a', 'any', [await stored(subjects, 'ann', threadDeleted('a'))]);
    await create('c');
    await sawAll(3);
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('does not happen again after a restart', async () => {
    await create('a', 'b');
    const first = react(noting());
    await sawAll(2);
    await first.close();
    react(noting());
    await create('c');
    await sawAll(3);
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('ends when another runner moved the checkpoint', async () => {
    const run = react(noting());
    await create('a');
    await sawAll(1);
    const checkpoint = await eventually(
      () => journal.checkpoint(),
      (position) => position >= 0n,
    );
    await journal.advance(checkpoint, checkpoint + 1_000n);
    const outcome = expect(run.ended).rejects.toBeInstanceOf(CheckpointMoved);
    await create('b');
    await outcome;
    running.pop();
  });

  it('happens beside its neighbours where their order does not matter, and before what it does matter to', async () => {
    const order: string[] = [];
    let arrived: () => void = () => undefined;
    const other = new Promise<void>((resolve) => (arrived = resolve));
    const beside: Reaction = {
      name: 'beside',
      partitionBy: { 'thread.created': ({ data }) => String(data['threadId']).slice(0, 1) },
      on: {
        'thread.created': async ({ data }) => {
          const id = String(data['threadId']);
          // One of another partition has to come for it to end.
          if (id === 'a1') await other;
          if (id === 'b1') arrived();
          order.push(id);
        },
        'thread.deleted': async () => void order.push('deleted'),
      },
    };
    await create('a1', 'a2', 'b1');
    await events.append('thread-b1', 'any', [await stored(subjects, 'ann', threadDeleted('b1'))]);
    await create('b2');
    react(beside);
    await eventually(
      () => order,
      ({ length }) => length >= 5,
    );
    expect(order).toEqual(['b1', 'a1', 'a2', 'deleted', 'b2']);
  });

  it('is tried again until it succeeds, before the next event', async () => {
    let failures = 4;
    react(
      noting(({ data }) => {
        if (data['title'] === 'b' && failures-- > 0) throw new Error('not yet');
      }),
    );
    await create('a', 'b', 'c');
    await sawAll(3);
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('is parked when it keeps failing, and later events go on', async () => {
    react(
      noting(({ data }) => {
        if (data['title'] === 'b') throw new TypeError('never');
      }),
    );
    await create('a', 'b', 'c');
    await sawAll(2);
    expect(seen).toEqual(['a', 'c']);
    await expect(parked()).resolves.toEqual([{ reaction: 'noting', stream: 'thread-b', fault: 'TypeError' }]);
  });

  it('gets another try at the next start', async () => {
    const failing = react(
      noting(() => {
        throw new TypeError('a mistake');
      }),
    );
    await create('a');
    await eventually(parked, (entries) => entries.length === 1);
    await failing.close();
    react(noting());
    await sawAll(1);
    await eventually(parked, (entries) => entries.length === 0);
  });

  it('is never parked because a backend is away: it waits for it', async () => {
    let outages = 11;
    react(
      noting(() => {
        if (outages-- > 0) throw new BackendUnavailable('redis');
      }),
    );
    await create('a');
    await sawAll(1);
    await expect(parked()).resolves.toEqual([]);
  });

  it('on an erase waits for a trail that is behind, however long, and then goes on by itself', async () => {
    const { tenants } = await memoryApp({ log: events, subjects });
    let looks = 0;
    const awaitPosition = async () => (looks += 1) > 11;
    const purges = { purge: async () => undefined };
    react(scratchpadReaction({ tenantOf: (event) => tenants.ofEvent(event), purges, awaitPosition }));
    const erased = await stored(subjects, 'eve', { type: 'user.erased', data: { userId: 'eve' } });
    await events.append('user-eve', 'none', [erased]);
    await eventually(
      () => subjects.openingKeys(new Set(['eve'])),
      ({ size }) => size === 0,
    );
    await expect(parked()).resolves.toEqual([]);
  });

  it('parks what it cannot read', async () => {
    const event = await stored(subjects, 'ann', threadCreated('x', 'ann'));
    await events.append('thread-x', 'none', [{ ...event, metadata: { ...event.metadata, schemaVersion: 99 } }]);
    react(noting());
    await create('a');
    await sawAll(1);
    await expect(parked()).resolves.toEqual([{ reaction: 'noting', stream: 'thread-x', fault: 'Undecodable' }]);
  });

  it('stands beside others: one that fails does not keep the others from the event', async () => {
    const failing = {
      ...noting(() => {
        throw new TypeError('never');
      }),
      name: 'failing',
    };
    react(failing, noting());
    await create('a');
    await sawAll(1);
    await expect(parked()).resolves.toEqual([{ reaction: 'failing', stream: 'thread-a', fault: 'TypeError' }]);
  });
});
