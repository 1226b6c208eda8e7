import type { PadRef } from './pad-keys.js';

/** Background work that must happen, now and again later, until nothing is left of a deleted pad. */
export interface PurgeQueue {
  /** Enqueues both passes of the purge. Job ids name the pad and the pass, so asking twice is asking once. */
  purge(pad: PadRef): Promise<void>;
}
