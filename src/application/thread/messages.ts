import { findMessage } from '../../../projections/messages.js';
import { refuse, type Refusal } from '../../domain/kernel/refusal.js';
import { thread } from '../../domain/thread/thread.js';
import type { EventReader } from '../event-sourcing/event-reader.js';
import type { ReadDb } from '../ports/read-models.js';

/** Events of a thread that are searched for a message; texts are in them, so it is not all of them. */
const latest = 32;

export interface ThreadReads {
  readonly id: string;
  readonly events: EventReader;
  readonly reads: ReadDb;
}

/**
 * Answers whether a thread has a message. Why two places: the state of a thread stays small and does not say; the latest
 * events do, and older ones are in the read model.
 */
export async function hasMessage(
  { id: ownerId, events, reads }: ThreadReads,
  threadId: string,
  messageId: string,
  awaitPosition: (position: bigint) => Promise<boolean>,
): Promise<boolean | Refusal<'unavailable'>> {
  let searched = 0;
  for await (const { type, data, position } of events.backwards(`${thread.category}-${threadId}`)) {
    if (data['messageId'] === messageId) return type === 'message.appended';
    searched += 1;
    if (searched < latest) continue;
    return (await awaitPosition(position))
      ? (await findMessage(reads, ownerId, threadId, messageId)) !== undefined
      : refuse('unavailable', 'The read models are behind. It is safe to try again.', { retryAfterSeconds: 1 });
  }
  return false;
}
