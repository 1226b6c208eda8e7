import { eraOf, ledger } from '../../../domain/scratchpad/ledger.js';
import { gapsIn } from '../../../domain/scratchpad/index-ranges.js';
import type { PadWork } from '../lifecycle.js';
import type { PadRef } from '../../ports.js';
import { clearedEventId, ledgerOf } from '../ledger-names.js';
import { tellAppended } from '../ledger-events.js';

const pageSize = 500;

/**
 * Finishes a clear: what it removed and nobody has told of yet is told of, then the clear itself, then the copy goes. A
 * clear that has no copy is finished.
 */
export async function completeClear(pad: PadRef, clearId: string, { streams, working }: PadWork): Promise<void> {
  const { scratchpadId } = pad;
  const copy = await working.entries(pad, 0, 0, clearId);
  if (!copy) return;
  const era = eraOf(await streams.load(ledger, scratchpadId), copy.clears);
  for (const [from, to] of era ? gapsIn(era.told, 1, copy.length) : []) {
    for (let after = from - 1; after < to; after += pageSize) {
      const page = await working.entries(pad, after, Math.min(pageSize, to - after), clearId);
      const telling = page?.entries.map((entry) =>
        tellAppended(
          ...([scratchpadId, entry, { index: entry.index, clears: copy.clears }] as const),
          streams.asSystem(entry.correlationId),
        ),
      );
      await Promise.all(telling ?? []);
    }
  }
  const last = (await working.entries(pad, Math.max(0, copy.length - 1), 1, clearId))?.entries.at(-1);
  const count = copy.length - copy.gaps;
  const data = { scratchpadId, clearId, count, lastEntryId: last?.id ?? null, clears: copy.clears + 1 };
  const id = clearedEventId(clearId);
  await streams.record(ledgerOf(scratchpadId), [{ id, type: 'scratchpad.entries_cleared', data }]);
  await working.forgetCleared(pad, clearId);
}
