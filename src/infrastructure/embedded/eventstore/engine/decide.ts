import { isMetastream, type ProposedEvent, type StoredEvent } from './events.js';
import type { Expectation, Outcome } from './expectation.js';
import type { Head } from './head.js';
import type { RecentIds } from './recent-ids.js';

export interface Wish {
  readonly kind: 'append' | 'delete' | 'tombstone';
  readonly stream: string;
  readonly expected: Expectation;
  readonly events: readonly ProposedEvent[];
}

/** 'write', an answer that writes nothing, or 'compare': only the stored ids can tell. */
export type Verdict = 'write' | 'compare' | Outcome;

const DELETED: Outcome = { kind: 'stream_deleted' };

/** Weighs a wish against the end of its stream. */
export function decide(wish: Wish, head: Head, recent: RecentIds): Verdict {
  if (head.tombstoned) return DELETED;
  if (wish.kind === 'append') return decideAppend(wish, head, recent);
  return wish.kind === 'delete' && !head.exists ? wrong(head.events.last) : decideRemoval(wish, head);
}

const wrong = (current: number): Outcome => ({ kind: 'wrong_version', current });

function decideRemoval({ expected, kind }: Wish, head: Head): Verdict {
  const { last } = head.events;
  if (expected === 'any') return 'write';
  if (expected === 'stream_exists') {
    if (kind === 'delete' && head.truncation.softDeleted) return DELETED;
    return head.exists ? 'write' : wrong(last);
  }
  return (expected === 'no_stream' ? -1 : expected) === last ? 'write' : wrong(last);
}

function decideAppend({ stream, expected, events }: Wish, head: Head, recent: RecentIds): Verdict {
  const tip = head.tipOf(stream);
  const softDeleted = head.truncation.softDeleted && !isMetastream(stream);
  if (expected === 'stream_exists') {
    if (softDeleted) return DELETED;
    if (!head.exists) return wrong(tip.last);
  }
  if (typeof expected === 'number' || expected === 'no_stream') {
    const revision = expected === 'no_stream' ? -1 : expected;
    if (revision > tip.last) return wrong(tip.last);
    if (revision < tip.last) return decideRepeat(revision, events, head, stream);
  } else {
    const place = recent.find(stream, events);
    if (place === 'mixed') return wrong(tip.last);
    if (place !== 'new') return { kind: 'written', revision: place.revision, position: place.position };
  }
  return events.length > 0 ? 'write' : { kind: 'written', revision: tip.last, position: undefined };
}

/** The writer is behind: it has either lost a race, or it repeats an append whose answer it did not get. */
function decideRepeat(revision: number, events: readonly ProposedEvent[], head: Head, stream: string): Verdict {
  const tip = head.tipOf(stream);
  const differs = recreates(revision, head, stream) ? 'compare' : wrong(tip.last);
  if (events.length === 0 || revision + events.length > tip.last) return differs;
  if (!tip.remembers(revision + 1)) return 'compare';
  const position = tip.positionIfRepeated(revision, events);
  return position === undefined ? differs : { kind: 'written', revision: revision + events.length, position };
}

/** Weighs again, with the events that storage has behind the revision expected. */
export function decideCompared(wish: Wish, head: Head, stored: readonly StoredEvent[]): 'write' | Outcome {
  const { events, stream } = wish;
  const tip = head.tipOf(stream);
  if (events.length === 0) return { kind: 'written', revision: tip.last, position: undefined };
  const last = stored[events.length - 1];
  if (last && events.every((event, index) => stored[index]?.id === event.id)) {
    return { kind: 'written', revision: last.revision, position: last.position };
  }
  const anew = wish.expected === 'no_stream' && recreates(-1, head, stream) && stored[0]?.id !== events[0]?.id;
  return anew ? 'write' : wrong(tip.last);
}

/** A stream that was soft-deleted may be made anew by someone who expects none. */
export const recreates = (revision: number, head: Head, stream: string): boolean =>
  revision === -1 && head.truncation.softDeleted && !isMetastream(stream);
