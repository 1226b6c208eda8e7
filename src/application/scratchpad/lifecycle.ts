import { randomUUID } from 'node:crypto';
import { isRefusal } from '../../domain/kernel/refusal.js';
import * as scratchpads from '../../domain/scratchpad/scratchpad.js';
import { isAttached, thread } from '../../domain/thread/thread.js';
import type { PadContext } from './pad-context.js';

/**
 * Provisions a pad once a thread's slot names it: its own stream, then its keys. Every step is create-if-absent.
 * Invariant: a pad that its thread has let go of ends without keys; whichever command emptied the slot may have come
 * before there was a stream to end (docs/flows.md#create-scratchpad).
 */
export async function provisionScratchpad(pad: PadContext, threadId: string): Promise<scratchpads.Scratchpad> {
  const { ref, scratchpadId, store } = pad;
  const { aggregates, ownerId } = pad.streams;
  const epoch = store.epoch.current();
  const created = await aggregates.execute(scratchpads.scratchpad, scratchpadId, (state) =>
    scratchpads.create(state, { scratchpadId, threadId, ownerId }),
  );
  if (isRefusal(created)) return { status: 'absent' };
  const { state, events, replayed } = created;
  if (state.status !== 'open') return state;
  const isNew = events.length > 0 && !replayed;
  if (isNew) await store.keys.create(ref, state.createdAt);
  else await pad.consistency.run(async () => true);
  if (!isAttached(await aggregates.load(thread, threadId), scratchpadId)) await removeScratchpad(pad);
  const now = await aggregates.load(scratchpads.scratchpad, scratchpadId);
  if (now.status === 'deleted') await store.keys.destroy(ref);
  else if (isNew) store.epoch.markVerified(ref, epoch);
  return now;
}

/**
 * Removes a pad once no thread names it: its stream ends, then its keys go; nothing brings them back. Purges, now and
 * later, are the reaction's work (docs/flows.md#delete-scratchpad).
 */
export async function removeScratchpad({ ref, scratchpadId, store, streams }: PadContext): Promise<void> {
  const removed = await streams.aggregates.execute(scratchpads.scratchpad, scratchpadId, scratchpads.remove);
  if (isRefusal(removed) && removed.refused === 'conflict') {
    // The command's idempotency key was used on this pad before; that no thread names the pad is true whatever the key.
    const system = streams.asSystem(randomUUID());
    await system.aggregates.execute(scratchpads.scratchpad, scratchpadId, scratchpads.remove);
  }
  await store.keys.destroy(ref);
}
