import type { Cancellation } from '../../domain/research/events.js';
import { cancel, research, type BegunResearch } from '../../domain/research/research.js';
import { remove, thread } from '../../domain/thread/thread.js';
import { user } from '../../domain/user/user.js';
import { isAttached } from '../../domain/thread/thread.js';
import type { Aggregates } from '../event-sourcing/aggregates.js';

type Parented = Pick<BegunResearch, 'ownerId' | 'threadId' | 'scratchpadId'>;

/** Why a run must not go on: what it belongs to is gone. As of a position of the log, or now. */
export async function reasonToEnd(
  { ownerId, threadId, scratchpadId }: Parented,
  aggregates: Aggregates,
  asOf?: bigint,
): Promise<Cancellation | undefined> {
  if ((await aggregates.load(user, ownerId, asOf)).status === 'erased') return 'owner_erased';
  const parent = await aggregates.load(thread, threadId, asOf);
  if (parent.status !== 'open') return 'thread_deleted';
  return isAttached(parent, scratchpadId) ? undefined : 'scratchpad_deleted';
}

/** Cancels a run that has not ended. With its thread go the threads in which its agents talked, whenever it ended. */
export async function endWith(researchId: string, reason: Cancellation, aggregates: Aggregates): Promise<void> {
  await aggregates.execute(research, researchId, (state) => cancel(state, reason));
  if (reason !== 'thread_deleted') return;
  const ended = await aggregates.load(research, researchId);
  if (ended.status === 'absent') return;
  const own = [ended.supervisorThreadId, ...Object.values(ended.calls).map(({ threadId }) => threadId)];
  for (const threadId of own) await aggregates.execute(thread, threadId, remove);
}
