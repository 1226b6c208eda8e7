import { researchEvents, type Cancellation } from '../../domain/research/events.js';
import { cancel, research } from '../../domain/research/research.js';
import { remove, thread } from '../../domain/thread/thread.js';
import { user } from '../../domain/user/user.js';
import type { DecodedEvent } from '../codec.js';
import { holds } from '../pads.js';
import type { ResearchQueue } from '../research/open-runs.js';
import type { Reaction, SystemWork } from './reaction.js';

/**
 * A run begins once its start is stored, and ends with its thread, its scratchpad or its owner. A thread's stream names its
 * runs before they start, so that whichever of a start and a deletion is stored first, one of these meets both.
 */
export const researchLife = (workFor: (event: DecodedEvent) => SystemWork, queue: ResearchQueue): Reaction => ({
  name: 'research_life',
  on: {
    async 'research.started'(event) {
      const work = workFor(event);
      const { researchId } = researchEvents['research.started'].parse(event.data);
      const reason = await reasonToEnd(event, work);
      if (reason === undefined) return queue.enqueue(researchId);
      await end(researchId, reason, work);
    },
    async 'thread.deleted'(event) {
      const work = workFor(event);
      for (const id of await runsOf(event, work)) await end(id, 'thread_deleted', work);
    },
    async 'thread.scratchpad_detached'(event) {
      const work = workFor(event);
      for (const id of await runsOf(event, work)) {
        const run = await work.streams.load(research, id);
        const isOnIt = run.status !== 'absent' && run.scratchpadId === event.data['scratchpadId'];
        if (isOnIt) await end(id, 'scratchpad_deleted', work);
      }
    },
  },
});

async function reasonToEnd(event: DecodedEvent, { streams }: SystemWork): Promise<Cancellation | undefined> {
  const { ownerId, threadId, scratchpadId } = researchEvents['research.started'].parse(event.data);
  if ((await streams.load(user, ownerId, event.position)).status === 'erased') return 'owner_erased';
  const parent = await streams.load(thread, threadId, event.position);
  if (parent.status !== 'open') return 'thread_deleted';
  return holds(parent, scratchpadId) ? undefined : 'scratchpad_deleted';
}

async function runsOf({ data, position }: DecodedEvent, { streams }: SystemWork): Promise<readonly string[]> {
  const parent = await streams.load(thread, String(data['threadId']), position);
  return parent.status === 'absent' ? [] : parent.researchIds;
}

/** Cancels a run that has not ended. With its thread go the threads in which its agents talked, whenever it ended. */
async function end(researchId: string, reason: Cancellation, { streams }: SystemWork): Promise<void> {
  await streams.transact(research, researchId, (state) => cancel(state, reason));
  if (reason !== 'thread_deleted') return;
  const ended = await streams.load(research, researchId);
  if (ended.status === 'absent') return;
  const own = [ended.supervisorThreadId, ...Object.values(ended.calls).map(({ threadId }) => threadId)];
  for (const threadId of own) await streams.transact(thread, threadId, remove);
}
