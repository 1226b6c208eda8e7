import { randomUUID } from 'node:crypto';
import { isRefusal } from '../../domain/kernel/refusal.js';
import * as scratchpads from '../../domain/scratchpad/scratchpad.js';
import { thread, type Thread } from '../../domain/thread/thread.js';
import { isSound } from './consistency.js';
import type { PadRef, WorkingState } from '../ports.js';
import type { Streams } from '../event-sourcing/aggregates.js';

/** What the derived steps of a scratchpad's life need; operations and reactions both have it. */
export interface PadWork {
  readonly streams: Streams;
  readonly working: WorkingState;
}

/**
 * What follows once a thread's slot holds a scratchpad: its own stream, then its working state. Every step is
 * create-if-absent. If the thread let go of the pad meanwhile, everything is taken away again: whoever emptied the slot may
 * have been here before there was a stream to end.
 */
export async function raiseScratchpad(
  pad: PadRef & { readonly threadId: string },
  work: PadWork,
): Promise<scratchpads.Scratchpad> {
  const { streams, working } = work;
  const { scratchpadId, threadId, ownerId } = pad;
  const connection = working.connection();
  const created = await streams.transact(scratchpads.scratchpad, scratchpadId, (state) =>
    scratchpads.create(state, { scratchpadId, threadId, ownerId }),
  );
  if (isRefusal(created)) return { status: 'absent' };
  const { state, events, replayed } = created;
  if (state.status !== 'open') return state;
  const isNew = events.length > 0 && !replayed;
  if (isNew) await working.create(pad, state.createdAt);
  else await isSound(pad, work);
  if (!holds(await streams.load(thread, threadId), scratchpadId)) await buryScratchpad(scratchpadId, ownerId, work);
  const now = await streams.load(scratchpads.scratchpad, scratchpadId);
  if (now.status !== 'open') await working.destroy(pad);
  else if (isNew) working.checked(pad, connection);
  return now;
}

/** Does the thread's slot hold this scratchpad? */
export const holds = (state: Thread, scratchpadId: string): boolean =>
  state.status === 'open' && state.scratchpadId === scratchpadId;

/**
 * What follows once a thread no longer holds a scratchpad: its stream ends, its keys go. Nothing can bring them back
 * (03-flows "Deletion"). Purges, now and later, are the reaction's work.
 */
export async function buryScratchpad(
  scratchpadId: string,
  ownerId: string,
  { streams, working }: PadWork,
): Promise<void> {
  const removed = await streams.transact(scratchpads.scratchpad, scratchpadId, scratchpads.remove);
  if (isRefusal(removed) && removed.refused === 'conflict') {
    // The command's key was used on this pad before; that it is no longer held is true whatever its key.
    await streams.asSystem(randomUUID()).transact(scratchpads.scratchpad, scratchpadId, scratchpads.remove);
  }
  await working.destroy({ ownerId, scratchpadId });
}
