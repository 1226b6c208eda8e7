import { randomUUID } from 'node:crypto';
import { currentGeneration, ledger, type Generation } from '../../domain/scratchpad/ledger.js';
import { above, highest, type Ranges } from '../../domain/scratchpad/index-ranges.js';
import { scratchpad } from '../../domain/scratchpad/scratchpad.js';
import type { LedgerExtent } from '../../domain/scratchpad/ledger-list.js';
import type { PadContext } from './lifecycle.js';
import type { PadRef } from '../ports/pad-keys.js';
import { isInRecordedOrder, restoreOrder } from './restore-order.js';
import { recordLost } from './ledger-events.js';

/**
 * False when the pad is not alive. Compares its ledger with what the stream has audited, once for each connection to the
 * working state, before anything is read from it or written to it over that connection: a server that came back without
 * its tail would otherwise give an index twice, and nobody would be told of what is gone.
 */
export async function isSound(pad: PadRef, work: PadContext): Promise<boolean> {
  const { working, streams } = work;
  if (working.epoch.isVerified(pad)) return true;
  return streams.inTurn(turnOf(pad), async () => working.epoch.isVerified(pad) || checked(pad, work));
}

/**
 * Makes the working state of a living pad whole again and says what it has lost; takes away what there is of a dead one.
 * Answers whether the pad is alive. The event comes first: it says what is true, and the mending can be done again.
 */
export const reconcile = (pad: PadRef, work: PadContext): Promise<boolean> =>
  work.streams.inTurn(turnOf(pad), () => checked(pad, work));

async function checked(pad: PadRef, work: PadContext): Promise<boolean> {
  const connection = work.working.epoch.current();
  const alive = await compareWithStream(pad, work);
  if (alive) work.working.epoch.markVerified(pad, connection);
  return alive;
}

/** Many who meet the same loss at once tell of it once. */
const turnOf = ({ ownerId, scratchpadId }: PadRef): string => `ledger check ${ownerId} ${scratchpadId}`;

async function compareWithStream(pad: PadRef, work: PadContext): Promise<boolean> {
  const { streams, working } = work;
  const { scratchpadId } = pad;
  const state = await streams.load(scratchpad, scratchpadId);
  if (state.status === 'deleted') await working.keys.destroy(pad);
  if (state.status !== 'open') return false;
  // The stream first: whatever it speaks of by now, the ledger had before.
  const era = currentGeneration(await streams.load(ledger, scratchpadId));
  const { ledger: list, contentRevision } = await working.keys.state(pad);
  // Places move only while the server is away, and then the connection was lost.
  const mayHaveMoved = list?.generation === era.number && !working.epoch.isVerified(pad);
  if (mayHaveMoved && !(await isInRecordedOrder(pad, era, list.length, work))) {
    await restoreOrder(pad, era, work);
    return compareWithStream(pad, work);
  }
  const gone = lostOf(era, list);
  // A pad that was deleted meanwhile has lost nothing: its keys go after its stream has ended.
  if (gone.length > 0 && (await streams.load(scratchpad, scratchpadId)).status !== 'open') return false;
  const system = streams.asSystem(randomUUID());
  for (const [from, to] of gone) {
    const reason = list?.generation === era.number ? 'tail' : 'ledger';
    await recordLost(scratchpadId, { clears: era.number, from, to, reason }, system);
  }
  const given = { generation: era.number, length: highest(era.covered) };
  const isMissing = !list || contentRevision === undefined;
  if (!isMissing && !isBehind(list, given)) return true;
  if (isMissing) await working.keys.create(pad, state.createdAt, given);
  if (list && isBehind(list, given)) await working.repair.fastForward(pad, given);
  if ((await streams.load(scratchpad, scratchpadId)).status === 'open') return true;
  await working.keys.destroy(pad);
  return false;
}

/** Indexes that the stream speaks of and the ledger does not reach, without those that are known to be lost. */
function lostOf(era: Generation, list: LedgerExtent | undefined): Ranges {
  if (list && list.generation > era.number) return [];
  return above(era.covered, list?.generation === era.number ? list.length : 0, era.lost);
}

const isBehind = (list: LedgerExtent, given: LedgerExtent): boolean =>
  list.generation < given.generation || (list.generation === given.generation && list.length < given.length);
