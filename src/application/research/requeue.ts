import { openResearch } from '../../../projections/research.js';
import type { ReadDbs } from '../ports/read-models.js';
import type { ResearchQueue } from '../ports/work-queues.js';

const maxRuns = 1_000;

/** Enqueues every run that has not ended and answers how many. Runs that the queue still has are not taken twice. */
export async function enqueueOpen({ system }: ReadDbs, queue: ResearchQueue): Promise<number> {
  const open = await openResearch(system, maxRuns);
  for (const researchId of open) await queue.enqueue(researchId);
  return open.length;
}
