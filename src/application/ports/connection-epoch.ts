import type { PadRef } from './pad-keys.js';

/**
 * Counts connections to the scratchpad store, and remembers which pads were compared with their streams in the current
 * one. Why: the store loses its tail only by restarting, which breaks the connection.
 */
export interface ConnectionEpoch {
  current(): number;
  /** Was this pad compared with its stream in the current epoch? */
  isVerified(pad: PadRef): boolean;
  /** It was, in that epoch; without effect when the epoch is over. */
  markVerified(pad: PadRef, epoch: number): void;
  /** Changes when the server restarts: then it may have lost what it had not written to disk. */
  serverRunId(): Promise<string>;
}
