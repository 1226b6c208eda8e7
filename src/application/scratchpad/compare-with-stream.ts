import { randomUUID } from 'node:crypto';
import { above, highest, type Ranges } from '../../domain/scratchpad/index-ranges.js';
import type { LedgerExtent } from '../../domain/scratchpad/ledger-list.js';
import { currentGeneration, ledger, type Generation } from '../../domain/scratchpad/ledger.js';
import { scratchpad } from '../../domain/scratchpad/scratchpad.js';
import type { PadState } from '../ports/pad-keys.js';
import { recordLost } from './ledger-events.js';
import { isInRecordedOrder, restoreOrder, type Restoring } from './restore-order.js';

/**
 * Compares a ledger with its stream and mends it. Answers whether the pad is open.
 * Why the stream is read first: every index that it covers by then, the list had before.
 */
export async function compareWithStream(pad: Restoring): Promise<'open' | 'gone'> {
  const { ref, streams, store } = pad;
  const state = await streams.aggregates.load(scratchpad, ref.scratchpadId);
  if (state.status === 'deleted') await store.keys.destroy(ref);
  if (state.status !== 'open') return 'gone';
  const generation = currentGeneration(await streams.aggregates.load(ledger, ref.scratchpadId));
  const stored = await store.keys.state(ref);
  const list = stored.ledger;
  // Entries move only while the server is away, and then the epoch is a new one.
  const mayHaveMoved = list?.generation === generation.number && !store.epoch.isVerified(ref);
  if (mayHaveMoved && !(await isInRecordedOrder(pad, generation, list.length))) {
    await restoreOrder(pad, generation);
    return compareWithStream(pad);
  }
  const lost = lostOf(generation, list);
  // A pad that was deleted meanwhile has lost nothing: its keys go after its stream has ended.
  if (lost.length > 0 && !(await isOpen(pad))) return 'gone';
  await recordLosses(pad, generation, list, lost);
  return restoreKeys(pad, generation, stored, state.createdAt);
}

async function recordLosses(
  { ref, streams }: Restoring,
  generation: Generation,
  list: LedgerExtent | undefined,
  lost: Ranges,
): Promise<void> {
  const system = streams.asSystem(randomUUID());
  const reason = list?.generation === generation.number ? 'tail' : 'ledger';
  for (const [from, to] of lost) {
    await recordLost(system, ref.scratchpadId, { generation: generation.number, from, to, reason });
  }
}

/** Makes missing keys and lifts a list that is behind. A pad that was deleted meanwhile loses them again. */
async function restoreKeys(
  pad: Restoring,
  { number, covered }: Generation,
  { ledger: list, contentRevision }: PadState,
  createdAt: string,
): Promise<'open' | 'gone'> {
  const { ref, store } = pad;
  const extent = { generation: number, length: highest(covered) };
  const isMissing = !list || contentRevision === undefined;
  if (!isMissing && !isBehind(list, extent)) return 'open';
  if (isMissing) await store.keys.create(ref, createdAt, extent);
  if (list && isBehind(list, extent)) await store.repair.fastForward(ref, extent);
  if (await isOpen(pad)) return 'open';
  await store.keys.destroy(ref);
  return 'gone';
}

const isOpen = async ({ ref, streams }: Restoring): Promise<boolean> =>
  (await streams.aggregates.load(scratchpad, ref.scratchpadId)).status === 'open';

/** Indexes that the stream covers and the list does not reach, without those that are known to be lost. */
function lostOf({ number, covered, lost }: Generation, list: LedgerExtent | undefined): Ranges {
  if (list && list.generation > number) return [];
  return above(covered, list?.generation === number ? list.length : 0, lost);
}

const isBehind = (list: LedgerExtent, extent: LedgerExtent): boolean =>
  list.generation < extent.generation || (list.generation === extent.generation && list.length < extent.length);
