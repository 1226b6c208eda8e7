import { randomUUID } from 'node:crypto';
import { isRefusal } from '../../domain/kernel/refusal.js';
import * as scratchpads from '../../domain/scratchpad/scratchpad.js';
import { isAttached, thread } from '../../domain/thread/thread.js';
import { isSound } from './consistency.js';
import type { PadRef } from '../ports/pad-keys.js';
import type { ScratchpadStore } from '../ports/scratchpad-store.js';
import type { Streams } from '../event-sourcing/aggregates.js';

/** What the derived steps of a scratchpad's life need; operations and reactions both have it. */
export interface PadContext {
  readonly streams: Streams;
  readonly working: ScratchpadStore;
}

/**
 * What follows once a thread's slot holds a scratchpad: its own stream, then its working state. Every step is
 * create-if-absent. If the thread let go of the pad meanwhile, everything is taken away again: whoever emptied the slot may
 * have been here before there was a stream to end.
 */
export async function provisionScratchpad(
  pad: PadRef & { readonly threadId: string },
  work: PadContext,
): Promise<scratchpads.Scratchpad> {
  const { streams, working } = work;
  const { scratchpadId, threadId, ownerId } = pad;
  const connection = working.epoch.current();
  const created = await streams.execute(scratchpads.scratchpad, scratchpadId, (state) =>
    scratchpads.create(state, { scratchpadId, threadId, ownerId }),
  );
  if (isRefusal(created)) return { status: 'absent' };
  const { state, events, replayed } = created;
  if (state.status !== 'open') return state;
  const isNew = events.length > 0 && !replayed;
  if (isNew) await working.keys.create(pad, state.createdAt);
  else await isSound(pad, work);
  if (!isAttached(await streams.load(thread, threadId), scratchpadId))
    await removeScratchpad(scratchpadId, ownerId, work);
  const now = await streams.load(scratchpads.scratchpad, scratchpadId);
  if (now.status !== 'open') await working.keys.destroy(pad);
  else if (isNew) working.epoch.markVerified(pad, connection);
  return now;
}

/**
 * What follows once a thread no longer holds a scratchpad: its stream ends, its keys go. Nothing can bring them back
 * (03-flows "Deletion"). Purges, now and later, are the reaction's work.
 */
export async function removeScratchpad(
  scratchpadId: string,
  ownerId: string,
  { streams, working }: PadContext,
): Promise<void> {
  const removed = await streams.execute(scratchpads.scratchpad, scratchpadId, scratchpads.remove);
  if (isRefusal(removed) && removed.refused === 'conflict') {
    // The command's key was used on this pad before; that it is no longer held is true whatever its key.
    await streams.asSystem(randomUUID()).execute(scratchpads.scratchpad, scratchpadId, scratchpads.remove);
  }
  await working.keys.destroy({ ownerId, scratchpadId });
}
