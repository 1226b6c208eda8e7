import { OutcomeUnknown, WrongRevision } from '../faults/errors.js';
import { digestOf } from '../kernel/canonical-json.js';
import type { EventStore, NewEvent } from '../ports/event-store.js';

const maxSends = 3;

/**
 * Appends at an exact revision (-1: the stream is empty) and answers the position of the last event.
 * Why: when the answer is lost the same events are sent again. The store may recognise their ids, or refuse them because of
 * the very events that it stored; so a refusal is another writer's only when the stream shows another writer's event there
 * (docs/flows.md#outcome-unknown).
 * Fails when: another writer was first → WrongRevision; it cannot be found out → OutcomeUnknown, BackendUnavailable.
 */
export async function appendExactly(
  eventStore: EventStore,
  stream: string,
  revision: number,
  events: readonly NewEvent[],
): Promise<bigint> {
  const expected = revision < 0 ? 'none' : revision;
  for (let sent = 1; sent <= maxSends; sent += 1) {
    try {
      return (await eventStore.append(stream, expected, events)).position;
    } catch (error) {
      if (error instanceof WrongRevision) {
        const stored = await whoWrote(eventStore, stream, revision + 1, events);
        if (stored === 'another') throw error;
        if (stored !== 'nobody') return stored;
        // Refused for what is not there yet: an earlier sending is still under way.
      } else if (!(error instanceof OutcomeUnknown)) throw error;
    }
  }
  throw new OutcomeUnknown(stream);
}

/** Finds out whose events stand at a revision: these ones, whose last position it answers, or others, or none. */
async function whoWrote(
  eventStore: EventStore,
  stream: string,
  from: number,
  events: readonly NewEvent[],
): Promise<bigint | 'another' | 'nobody'> {
  const stored = await eventStore.readStream(stream, from, events.length);
  const last = stored.at(-1);
  if (last === undefined) return 'nobody';
  // An earlier run of the command stores other data under the same ids: that one is replayed, not taken for this one.
  const isOwn = events.every((event, index) => {
    const there = stored[index];
    return there?.id === event.id && digestOf(there.data) === digestOf(event.data);
  });
  return isOwn ? last.position : 'another';
}
