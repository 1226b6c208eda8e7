import { findMessage } from '../../../projections/messages.js';
import { refuse, type Refusal } from '../../domain/kernel/refusal.js';
import { thread } from '../../domain/thread/thread.js';
import type { OperationContext } from '../operation/context.js';

/** Events of a thread that are looked through for a message; texts are in them, so it is not all of them. */
const latest = 32;

/**
 * Does a thread hold a message? Its state does not keep which, so that it stays small: the latest events say it
 * themselves, and what is older than these the read model shows.
 */
export async function hasMessage(
  threadId: string,
  messageId: string,
  context: OperationContext,
): Promise<boolean | Refusal<'unavailable'>> {
  const { caller, db, streams } = context;
  let seen = 0;
  for await (const { type, data, position } of streams.newestFirst(thread, threadId)) {
    if (data['messageId'] === messageId) return type === 'message.appended';
    seen += 1;
    if (seen < latest) continue;
    return (await context.shown(position))
      ? (await findMessage(db, caller.userId, threadId, messageId)) !== undefined
      : refuse('unavailable', 'The read models are behind. It is safe to try again.', { retryAfterSeconds: 1 });
  }
  return false;
}
