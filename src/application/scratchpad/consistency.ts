import { randomUUID } from 'node:crypto';
import { currentEra, ledger, type Era } from '../../domain/scratchpad/ledger.js';
import { above, highest, type Ranges } from '../../domain/scratchpad/index-ranges.js';
import { scratchpad } from '../../domain/scratchpad/scratchpad.js';
import type { PadWork } from './lifecycle.js';
import type { PadRef } from '../ports.js';
import { isAligned, realign } from './restore-order.js';
import { tellLost } from './ledger-events.js';

/**
 * False when the pad is not alive. Compares its ledger with what the stream has audited, once for each connection to the
 * working state, before anything is read from it or written to it over that connection: a server that came back without
 * its tail would otherwise give an index twice, and nobody would be told of what is gone.
 */
export async function isSound(pad: PadRef, work: PadWork): Promise<boolean> {
  const { working, streams } = work;
  if (working.isChecked(pad)) return true;
  return streams.inTurn(turnOf(pad), async () => working.isChecked(pad) || checked(pad, work));
}

/**
 * Makes the working state of a living pad whole again and says what it has lost; takes away what there is of a dead one.
 * Answers whether the pad is alive. The event comes first: it says what is true, and the mending can be done again.
 */
export const reconcile = (pad: PadRef, work: PadWork): Promise<boolean> =>
  work.streams.inTurn(turnOf(pad), () => checked(pad, work));

async function checked(pad: PadRef, work: PadWork): Promise<boolean> {
  const connection = work.working.connection();
  const alive = await compare(pad, work);
  if (alive) work.working.checked(pad, connection);
  return alive;
}

/** Many who meet the same loss at once tell of it once. */
const turnOf = ({ ownerId, scratchpadId }: PadRef): string => `ledger check ${ownerId} ${scratchpadId}`;

async function compare(pad: PadRef, work: PadWork): Promise<boolean> {
  const { streams, working } = work;
  const { scratchpadId } = pad;
  const state = await streams.load(scratchpad, scratchpadId);
  if (state.status === 'deleted') await working.destroy(pad);
  if (state.status !== 'open') return false;
  // The stream first: whatever it speaks of by now, the ledger had before.
  const era = currentEra(await streams.load(ledger, scratchpadId));
  const { ledger: list, contentRevision } = await working.state(pad);
  // Places move only while the server is away, and then the connection was lost.
  const mayHaveMoved = list?.clears === era.clears && !working.isChecked(pad);
  if (mayHaveMoved && !(await isAligned(pad, era, list.length, work))) {
    await realign(pad, era, work);
    return compare(pad, work);
  }
  const gone = lostOf(era, list);
  // A pad that was deleted meanwhile has lost nothing: its keys go after its stream has ended.
  if (gone.length > 0 && (await streams.load(scratchpad, scratchpadId)).status !== 'open') return false;
  const system = streams.asSystem(randomUUID());
  for (const [from, to] of gone) {
    const reason = list?.clears === era.clears ? 'tail' : 'ledger';
    await tellLost(scratchpadId, { clears: era.clears, from, to, reason }, system);
  }
  const given = { clears: era.clears, length: highest(era.told) };
  const isMissing = !list || contentRevision === undefined;
  if (!isMissing && !isBehind(list, given)) return true;
  if (isMissing) await working.create(pad, state.createdAt, given);
  if (list && isBehind(list, given)) await working.mend(pad, given);
  if ((await streams.load(scratchpad, scratchpadId)).status === 'open') return true;
  await working.destroy(pad);
  return false;
}

type Reach = { readonly clears: number; readonly length: number };

/** Indexes that the stream speaks of and the ledger does not reach, without those that are known to be lost. */
function lostOf(era: Era, list: Reach | undefined): Ranges {
  if (list && list.clears > era.clears) return [];
  return above(era.told, list?.clears === era.clears ? list.length : 0, era.lost);
}

const isBehind = (list: Reach, given: Reach): boolean =>
  list.clears < given.clears || (list.clears === given.clears && list.length < given.length);
