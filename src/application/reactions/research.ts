import { researchEvents } from '../../domain/research/events.js';
import { research } from '../../domain/research/research.js';
import { thread } from '../../domain/thread/thread.js';
import type { DecodedEvent } from '../event-sourcing/codec.js';
import type { ResearchQueue } from '../research/requeue.js';
import { endWith, reasonToEnd } from '../research/parent-ended.js';
import type { Reaction, SystemWork } from './reaction.js';

/**
 * A run begins once its start is stored, and ends with its thread, its scratchpad or its owner. A thread's stream names its
 * runs before they start, so that whichever of a start and a deletion is stored first, one of these meets both.
 */
export const researchReaction = (workFor: (event: DecodedEvent) => SystemWork, queue: ResearchQueue): Reaction => ({
  name: 'research_life',
  on: {
    async 'research.started'(event) {
      const { streams } = workFor(event);
      const run = researchEvents['research.started'].parse(event.data);
      const reason = await reasonToEnd(run, streams, event.position);
      if (reason === undefined) return queue.enqueue(run.researchId);
      await endWith(run.researchId, reason, streams);
    },
    async 'thread.deleted'(event) {
      const work = workFor(event);
      for (const id of await runsOf(event, work)) await endWith(id, 'thread_deleted', work.streams);
    },
    async 'thread.scratchpad_detached'(event) {
      const work = workFor(event);
      for (const id of await runsOf(event, work)) {
        const run = await work.streams.load(research, id);
        const isOnIt = run.status !== 'absent' && run.scratchpadId === event.data['scratchpadId'];
        if (isOnIt) await endWith(id, 'scratchpad_deleted', work.streams);
      }
    },
  },
});

async function runsOf({ data, position }: DecodedEvent, { streams }: SystemWork): Promise<readonly string[]> {
  const parent = await streams.load(thread, String(data['threadId']), position);
  return parent.status === 'absent' ? [] : parent.researchIds;
}
