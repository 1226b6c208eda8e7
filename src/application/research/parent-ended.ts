import type { Cancellation } from '../../domain/research/events.js';
import { cancel, research, type StartedResearch } from '../../domain/research/research.js';
import { isAttached, remove, thread } from '../../domain/thread/thread.js';
import { user } from '../../domain/user/user.js';
import type { Aggregates } from '../event-sourcing/aggregates.js';

type Parents = Pick<StartedResearch, 'ownerId' | 'threadId' | 'scratchpadId'>;

/** Why a run must end: owner, thread or scratchpad is gone, now or as of a position. Undefined: none is. */
export async function reasonToEnd(
  { ownerId, threadId, scratchpadId }: Parents,
  aggregates: Pick<Aggregates, 'load'>,
  asOf?: bigint,
): Promise<Cancellation | undefined> {
  if ((await aggregates.load(user, ownerId, asOf)).status === 'erased') return 'owner_erased';
  const parent = await aggregates.load(thread, threadId, asOf);
  if (parent.status !== 'open') return 'thread_deleted';
  return isAttached(parent, scratchpadId) ? undefined : 'scratchpad_deleted';
}

/** Cancels a run that has not ended. After its thread was deleted, its agents' threads are deleted too, ended or not. */
export async function endWith(researchId: string, reason: Cancellation, aggregates: Aggregates): Promise<void> {
  await aggregates.execute(research, researchId, (state) => cancel(state, reason));
  if (reason !== 'thread_deleted') return;
  const ended = await aggregates.load(research, researchId);
  if (ended.status === 'absent') return;
  const threadIds = [ended.supervisorThreadId, ...Object.values(ended.calls).map(({ threadId }) => threadId)];
  for (const threadId of threadIds) await aggregates.execute(thread, threadId, remove);
}
