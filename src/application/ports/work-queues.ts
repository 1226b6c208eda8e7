import type { PadRef } from './pad-keys.js';

/** Background work that must happen, now and again later, until nothing is left of a deleted pad. */
export interface PurgeQueue {
  /** Enqueues both passes of the purge. Job ids name the pad and the pass, so asking twice is asking once. */
  purge(pad: PadRef): Promise<void>;
}

/** Runs of research that wait for a worker. */
export interface ResearchQueue {
  /** Enqueues a run once, however often it is asked for while it waits or is worked on. Throws BackendUnavailable. */
  enqueue(researchId: string): Promise<void>;
}

/**
 * Works on a run of research to its end. `stopped`: the process ends before the run, which is handed back to the queue.
 * Fails when: another attempt is needed → it throws.
 */
export type ResearchWork = (researchId: string, stopping: AbortSignal) => Promise<'done' | 'stopped'>;
