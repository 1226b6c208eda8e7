import { researchEvents } from '../../domain/research/events.js';
import { research } from '../../domain/research/research.js';
import { thread } from '../../domain/thread/thread.js';
import type { Aggregates } from '../event-sourcing/aggregates.js';
import type { DecodedEvent } from '../event-sourcing/codec.js';
import type { ResearchQueue } from '../ports/work-queues.js';
import { endWith, reasonToEnd } from '../research/parent-ended.js';
import type { Tenant } from '../tenancy/tenant.js';
import type { Reaction } from './reaction.js';

/**
 * A run begins once its start is stored, and ends with its thread, its scratchpad or its owner. A thread's stream names its
 * runs before they start, so that whichever of a start and a deletion is stored first, one of these meets both.
 */
export const researchReaction = (tenantOf: (event: DecodedEvent) => Tenant, queue: ResearchQueue): Reaction => ({
  name: 'research_life',
  on: {
    async 'research.started'(event) {
      const { aggregates } = tenantOf(event);
      const run = researchEvents['research.started'].parse(event.data);
      const reason = await reasonToEnd(run, aggregates, event.position);
      if (reason === undefined) return queue.enqueue(run.researchId);
      await endWith(run.researchId, reason, aggregates);
    },
    async 'thread.deleted'(event) {
      const { aggregates } = tenantOf(event);
      for (const id of await runsOf(event, aggregates)) await endWith(id, 'thread_deleted', aggregates);
    },
    async 'thread.scratchpad_detached'(event) {
      const { aggregates } = tenantOf(event);
      for (const id of await runsOf(event, aggregates)) {
        const run = await aggregates.load(research, id);
        const isOnIt = run.status !== 'absent' && run.scratchpadId === event.data['scratchpadId'];
        if (isOnIt) await endWith(id, 'scratchpad_deleted', aggregates);
      }
    },
  },
});

async function runsOf({ data, position }: DecodedEvent, aggregates: Aggregates): Promise<readonly string[]> {
  const parent = await aggregates.load(thread, String(data['threadId']), position);
  return parent.status === 'absent' ? [] : parent.researchIds;
}
