import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { claims, heldByOther, take } from '../../../domain/scratchpad/claims.js';
import { scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import type { OwnerStreams } from '../../event-sourcing/owner-streams.js';
import { sha256 } from '../../kernel/canonical-json.js';
import { ledgerStream } from '../ledger-events.js';
import type { PadContext } from '../pad-context.js';

/** Takes the lease of a claim, decided by a stream of its own at an exact revision, before its entry is pushed. */
export async function takeClaim(
  { scratchpadId, streams }: PadContext,
  { subject, leaseSeconds }: { readonly subject: string; readonly leaseSeconds: number },
) {
  const { aggregates, command } = streams;
  // First: a stream of claims begun on a foreign pad would belong to the tenant that began it.
  if ((await aggregates.load(scratchpad, scratchpadId)).status !== 'open') return refuse('not_found');
  const claim = {
    scratchpadId,
    subjectSha256: sha256(subject.trim().normalize('NFC')),
    entryId: command.newId('entry'),
    holder: command.author,
    expiresAt: new Date(command.now().getTime() + leaseSeconds * 1000).toISOString(),
  };
  const taken = await aggregates.execute(claims, scratchpadId, (state, at) => take(state, claim, at));
  if (isRefusal(taken) || !taken.replayed) return taken;
  // The lease of the first attempt may have run out since. Then its entry stands already, or the work is another's.
  const other = heldByOther(taken.state, claim, command.now().toISOString());
  return other && !(await isAppended(scratchpadId, claim.entryId, streams)) ? other : taken;
}

async function isAppended(scratchpadId: string, entryId: string, { events }: OwnerStreams): Promise<boolean> {
  for await (const { type, data } of events.backwards(ledgerStream(scratchpadId))) {
    if (type === 'scratchpad.entry_appended' && data['entryId'] === entryId) return true;
  }
  return false;
}
