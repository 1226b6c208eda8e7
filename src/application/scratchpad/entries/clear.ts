import { isRefusal, type Refusal } from '../../../domain/kernel/refusal.js';
import { missingIn } from '../../../domain/scratchpad/index-ranges.js';
import { generationOf, ledger } from '../../../domain/scratchpad/ledger.js';
import type { LedgerElements } from '../../ports/ledger-store.js';
import { recordAppended, recordCleared } from '../ledger-events.js';
import type { PadContext } from '../pad-context.js';

const pageSize = 500;

/**
 * Empties the ledger and answers how many entries it held. The removed entries stay aside until their events are stored
 * (docs/flows.md#clear-entries).
 */
export async function clearEntries(pad: PadContext): Promise<number | Refusal<'not_found'>> {
  const { ref, scratchpadId, store, streams } = pad;
  const clearId = streams.command.uuid('clear');
  const cleared = await pad.consistency.run(async () => {
    const { finished } = await streams.aggregates.load(ledger, scratchpadId);
    const before = finished.find((clear) => clear.clearId === clearId);
    if (before) return { count: before.count, isFinished: true };
    const now = await store.ledger.clear(ref, clearId);
    return now && { count: now.count, isFinished: false };
  });
  if (isRefusal(cleared)) return cleared;
  if (cleared.isFinished) streams.command.markReplayed();
  else await completeClear(pad, clearId);
  return cleared.count;
}

/**
 * Completes a clear: records the removed entries that nobody has recorded yet, then the clear itself, then drops the copy.
 * A clear without a copy is complete.
 */
export async function completeClear(pad: PadContext, clearId: string): Promise<void> {
  const { ref, scratchpadId, store, streams } = pad;
  const copy = await store.ledger.read(ref, 0, 0, clearId);
  if (!copy) return;
  await recordRemoved(pad, clearId, copy);
  const last = (await store.ledger.read(ref, Math.max(0, copy.length - 1), 1, clearId))?.entries.at(-1);
  await recordCleared(streams, scratchpadId, {
    clearId,
    count: copy.length - copy.holes,
    lastEntryId: last?.id ?? null,
    generation: copy.generation + 1,
  });
  await store.ledger.dropCleared(ref, clearId);
}

async function recordRemoved(
  { ref, scratchpadId, store, streams }: PadContext,
  clearId: string,
  { generation, length }: LedgerElements,
): Promise<void> {
  const known = generationOf(await streams.aggregates.load(ledger, scratchpadId), generation);
  for (const [from, to] of known ? missingIn(known.covered, 1, length) : []) {
    for (let after = from - 1; after < to; after += pageSize) {
      const page = await store.ledger.read(ref, after, Math.min(pageSize, to - after), clearId);
      await Promise.all(
        (page?.entries ?? []).map((entry) =>
          recordAppended(streams.asSystem(entry.correlationId), scratchpadId, entry, {
            index: entry.index,
            generation,
          }),
        ),
      );
    }
  }
}
