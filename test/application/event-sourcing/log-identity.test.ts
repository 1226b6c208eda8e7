import { mismatchOf, type Bound } from '../../../src/application/event-sourcing/log-identity.js';

const [ours, others] = ['a', 'b'];

interface Case {
  readonly title: string;
  readonly logId?: string;
  readonly end: bigint;
  readonly bound: readonly (readonly ['postgres' | 'redis' | 'this process', string | undefined, bigint])[];
  /** What the message must say. */
  readonly says?: RegExp;
}

const cases: readonly Case[] = [
  { title: 'a new log fits backends that were never bound', end: -1n, bound: [['postgres', undefined, -1n]] },
  { title: 'a log without a name fits rows of an older version', end: 9n, bound: [['postgres', undefined, 9n]] },
  {
    title: 'its own log fits, however much longer it has become',
    logId: ours,
    end: 12n,
    bound: [
      ['postgres', ours, 9n],
      ['redis', ours, 12n],
    ],
  },
  {
    title: 'its own log fits a Redis that was emptied',
    logId: ours,
    end: 12n,
    bound: [
      ['postgres', ours, 12n],
      ['redis', undefined, -1n],
    ],
  },
  {
    title: 'an empty log does not fit',
    end: -1n,
    bound: [['postgres', ours, 9n]],
    says: /a log without a name, which ends at position -1, but postgres holds data of log a, seen up to position 9/,
  },
  {
    title: 'another log does not fit',
    logId: others,
    end: 99n,
    bound: [['redis', ours, 9n]],
    says: /log b, which ends at position 99, but redis holds data of log a/,
  },
  {
    title: 'an older copy of the log does not fit',
    logId: ours,
    end: 8n,
    bound: [['postgres', ours, 9n]],
    says: /ends at position 8, but postgres has seen it up to position 9/,
  },
  {
    title: 'a log without a name does not fit rows of an older version that have seen more',
    end: 8n,
    bound: [['postgres', undefined, 9n]],
    says: /ends at position 8/,
  },
  {
    title: 'a log that lost what this process saw does not fit',
    logId: ours,
    end: 8n,
    bound: [['this process', ours, 9n]],
    says: /this process has seen it up to position 9/,
  },
];

describe('comparing an event log with what other backends have seen of it', () => {
  it.each(cases)('$title', ({ logId, end, bound, says }) => {
    const seen: Bound = new Map(bound.map(([holder, id, position]) => [holder, { logId: id, position }]));
    const mismatch = mismatchOf(logId, end, seen);
    if (says === undefined) return expect(mismatch).toBeUndefined();
    expect(mismatch).toMatch(says);
    expect(mismatch).toMatch(/EVENTSTORE_URL.*restore.*palimpsest adopt-log/);
  });
});
