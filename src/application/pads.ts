import { isRefusal } from '../domain/kernel/refusal.js';
import * as scratchpads from '../domain/scratchpad/scratchpad.js';
import type { PadRef, WorkingState } from './ports.js';
import type { Streams } from './transact.js';

/** What the derived steps of a scratchpad's life need; operations and reactions both have it. */
export interface PadWork {
  readonly streams: Streams;
  readonly working: WorkingState;
}

/**
 * What follows once a thread's slot holds a scratchpad: its own stream, then its working state. Every step is
 * create-if-absent. If the pad was deleted while the keys were made, they are removed again.
 */
export async function raiseScratchpad(
  pad: PadRef & { readonly threadId: string },
  { streams, working }: PadWork,
): Promise<scratchpads.Scratchpad> {
  const { scratchpadId, threadId, ownerId } = pad;
  const created = await streams.transact(scratchpads.scratchpad, scratchpadId, (state) =>
    scratchpads.create(state, { scratchpadId, threadId, ownerId }),
  );
  if (isRefusal(created)) return { status: 'absent' };
  if (created.state.status !== 'open') return created.state;
  return makeWorkingState(pad, created.state.createdAt, { streams, working });
}

/** Makes the keys of a living pad, and takes them away again if it died meanwhile. Answers what the pad is now. */
export async function makeWorkingState(
  pad: PadRef,
  createdAt: string,
  { streams, working }: PadWork,
): Promise<scratchpads.Scratchpad> {
  await working.create(pad, createdAt);
  const now = await streams.load(scratchpads.scratchpad, pad.scratchpadId);
  if (now.status !== 'open') await working.destroy(pad);
  return now;
}

/**
 * What follows once a thread no longer holds a scratchpad: its stream ends, its keys go. Nothing can bring them back
 * (03-flows "Deletion"). Purges, now and later, are the reaction's work.
 */
export async function buryScratchpad(
  scratchpadId: string,
  ownerId: string,
  { streams, working }: PadWork,
): Promise<void> {
  await streams.transact(scratchpads.scratchpad, scratchpadId, scratchpads.remove);
  await working.destroy({ ownerId, scratchpadId });
}
