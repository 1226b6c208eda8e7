import { openResearch } from '../../../projections/research.js';
import type { ReadDbs } from '../ports/read-models.js';

/** Where runs wait to be worked on. */
export interface ResearchQueue {
  /** Asking twice for a run that still waits, or is worked on, is asking once. Throws BackendUnavailable. */
  enqueue(researchId: string): Promise<void>;
}

const looked = 1_000;

/** Asks once more for every run that has not ended: what the queue still holds it does not take twice. Answers how many. */
export async function enqueueOpen({ system }: ReadDbs, queue: ResearchQueue): Promise<number> {
  const open = await openResearch(system, looked);
  for (const researchId of open) await queue.enqueue(researchId);
  return open.length;
}
