import type { Engine } from '../engine/engine.js';
import type { Call } from '../grpc/call.js';

/** Reads a call no further while too much is on its way to disk. */
export function slowDown(engine: Engine, call: Call): void {
  if (!engine.pending.full) return;
  call.pause();
  engine.pending.whenRoom(() => call.resume());
}
