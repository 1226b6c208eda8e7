import { generationOf, ledger } from '../../../domain/scratchpad/ledger.js';
import { missingIn } from '../../../domain/scratchpad/index-ranges.js';
import type { PadContext } from '../lifecycle.js';
import type { PadRef } from '../../ports/pad-keys.js';
import { clearedEventId, ledgerStream } from '../ledger-names.js';
import { recordAppended } from '../ledger-events.js';

const pageSize = 500;

/**
 * Finishes a clear: what it removed and nobody has told of yet is told of, then the clear itself, then the copy goes. A
 * clear that has no copy is finished.
 */
export async function completeClear(pad: PadRef, clearId: string, { streams, working }: PadContext): Promise<void> {
  const { scratchpadId } = pad;
  const copy = await working.ledger.read(pad, 0, 0, clearId);
  if (!copy) return;
  const era = generationOf(await streams.load(ledger, scratchpadId), copy.generation);
  for (const [from, to] of era ? missingIn(era.covered, 1, copy.length) : []) {
    for (let after = from - 1; after < to; after += pageSize) {
      const page = await working.ledger.read(pad, after, Math.min(pageSize, to - after), clearId);
      const telling = page?.entries.map((entry) =>
        recordAppended(
          ...([scratchpadId, entry, { index: entry.index, clears: copy.generation }] as const),
          streams.asSystem(entry.correlationId),
        ),
      );
      await Promise.all(telling ?? []);
    }
  }
  const last = (await working.ledger.read(pad, Math.max(0, copy.length - 1), 1, clearId))?.entries.at(-1);
  const count = copy.length - copy.holes;
  const data = { scratchpadId, clearId, count, lastEntryId: last?.id ?? null, clears: copy.generation + 1 };
  const id = clearedEventId(clearId);
  await streams.record(ledgerStream(scratchpadId), [{ id, type: 'scratchpad.entries_cleared', data }]);
  await working.ledger.dropCleared(pad, clearId);
}
