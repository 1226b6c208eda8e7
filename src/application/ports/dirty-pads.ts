import type { PadRef } from './pad-keys.js';

/** The pads that were written to since their last audit. Fails when: the outcome is not known → BackendUnavailable. */
export interface DirtyPads {
  /** At most `limit` of them. They stay dirty until `markClean`. */
  take(limit: number): Promise<readonly PadRef[]>;
  /** The pad need not be audited again until the next write. */
  markClean(pad: PadRef): Promise<void>;
  /** Every pad that has keys, each at least once, while others come and go. */
  scan(): AsyncIterable<PadRef>;
}
