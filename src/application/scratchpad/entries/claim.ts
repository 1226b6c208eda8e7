import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { claims, heldByOther, take } from '../../../domain/scratchpad/claims.js';
import { mayWrite, type EntryKind } from '../../../domain/scratchpad/entry-kinds.js';
import { ledger } from '../../../domain/scratchpad/ledger.js';
import { scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import { sha256 } from '../../kernel/canonical-json.js';
import type { OperationContext } from '../../operation/context.js';
import { entryFields } from './fields.js';
import { appendToLedger, type EntryDraft } from './append.js';
import { checkAt } from '../../kernel/validation.js';
import type { PadRef } from '../../ports/pad-keys.js';
import type { Streams } from '../../event-sourcing/aggregates.js';

/** Appends an entry of any kind: its fields checked, its writer's role allowed, its claim taken first. */
export async function writeEntry(pad: PadRef, draft: EntryDraft, context: OperationContext) {
  if (!mayWrite(context.pad?.role, draft.kind)) return refuse('authorization_refused');
  const fields = checkAt('fields', entryFields[draft.kind], draft.fields);
  if (isRefusal(fields)) return fields;
  if (draft.kind === 'claim') {
    const taken = await takeClaim(pad, entryFields.claim.parse(draft.fields), context);
    if (isRefusal(taken)) return taken;
  }
  return appendToLedger(pad, { ...draft, fields: fields.input }, context);
}

/** The lease is decided by a stream of its own, at an exact revision, before the entry that tells of it is pushed. */
async function takeClaim(
  { scratchpadId }: PadRef,
  { subject, leaseSeconds }: { readonly subject: string; readonly leaseSeconds: number },
  { streams, ids, author, now }: OperationContext,
) {
  // First: a stream of claims begun on a foreign pad would belong to whoever began it.
  if ((await streams.load(scratchpad, scratchpadId)).status !== 'open') return refuse('not_found');
  const claim = {
    scratchpadId,
    subjectSha256: sha256(subject.trim().normalize('NFC')),
    entryId: ids.make('entry'),
    holder: author,
    expiresAt: new Date(now().getTime() + leaseSeconds * 1000).toISOString(),
  };
  const taken = await streams.execute(claims, scratchpadId, (state, at) => take(state, claim, at));
  if (isRefusal(taken) || !taken.replayed) return taken;
  // The lease of the first attempt may have run out since. Then its entry stands already, or the work is another's.
  const other = heldByOther(taken.state, claim, now().toISOString());
  return other && !(await isAppended(scratchpadId, claim.entryId, streams)) ? other : taken;
}

async function isAppended(scratchpadId: string, entryId: string, streams: Streams): Promise<boolean> {
  for await (const { type, data } of streams.newestFirst(ledger, scratchpadId)) {
    if (type === 'scratchpad.entry_appended' && data['entryId'] === entryId) return true;
  }
  return false;
}

/** What the entries of a ledger come to: kinds counted, without those that a tombstone took back. Only `verified` is a finding. */
export function summaryOf(
  entries: readonly {
    readonly id: string;
    readonly kind: EntryKind;
    readonly fields: Readonly<Record<string, unknown>>;
  }[],
) {
  const taken = new Set(entries.flatMap(({ kind, fields }) => (kind === 'tombstone' ? [fields['entryId']] : [])));
  const standing = entries.filter(({ id, kind }) => kind !== 'tombstone' && !taken.has(id));
  const count = (kind: EntryKind) => standing.filter((entry) => entry.kind === kind).length;
  return {
    findings: count('verified'),
    unverified: count('unverified'),
    failedSources: count('failed_source'),
    claims: count('claim'),
  };
}
