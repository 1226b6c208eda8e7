import type { PadRole } from '../../../domain/kernel/roles.js';
import { isRefusal, refuse, type Refusal } from '../../../domain/kernel/refusal.js';
import { mayWrite, type EntryKind } from '../../../domain/scratchpad/entry-kinds.js';
import { contains } from '../../../domain/scratchpad/index-ranges.js';
import { generationOf, ledger } from '../../../domain/scratchpad/ledger.js';
import { idempotencyCollision } from '../../event-sourcing/recorded-outcome.js';
import { BackendUnavailable } from '../../faults/errors.js';
import { sha256 } from '../../kernel/canonical-json.js';
import { checkAt } from '../../kernel/validation.js';
import type { IndexedEntry, LedgerAppend } from '../../ports/ledger-store.js';
import { recordAppended } from '../ledger-events.js';
import type { PadContext } from '../pad-context.js';
import { takeClaim } from './claim.js';
import { entryFields } from './fields.js';

export interface EntryDraft {
  readonly content: string;
  readonly kind: EntryKind;
  readonly fields: Readonly<Record<string, unknown>>;
}

export type AppendedEntry = IndexedEntry & { readonly kind: EntryKind };
type NewEntry = Omit<AppendedEntry, 'index'>;

/**
 * Appends an entry: its writer's role allowed, its fields checked, its claim taken; then the push is the append, and its
 * event follows before the answer (docs/flows.md#append-entry).
 * Invariant: an entry is acknowledged only if it stands at its index over one connection.
 */
export async function appendEntry(
  pad: PadContext,
  draft: EntryDraft,
  role: PadRole | undefined,
): Promise<AppendedEntry | Refusal<'not_found' | 'conflict' | 'authorization_refused' | 'validation_failed'>> {
  if (!mayWrite(role, draft.kind)) return refuse('authorization_refused');
  const fields = checkAt('fields', entryFields[draft.kind], draft.fields);
  if (isRefusal(fields)) return fields;
  if (draft.kind === 'claim') {
    const claimed = await takeClaim(pad, entryFields.claim.parse(draft.fields));
    if (isRefusal(claimed)) return claimed;
  }
  return push(pad, newEntry(pad, { content: draft.content, kind: draft.kind, fields: fields.input }));
}

function newEntry({ streams: { command } }: PadContext, { content, kind, fields }: EntryDraft): NewEntry {
  return {
    id: command.newId('entry'),
    content,
    kind,
    fields,
    author: command.author,
    bytes: Buffer.byteLength(content),
    sha256: sha256(content),
    at: command.now().toISOString(),
    correlationId: command.correlationId,
  };
}

async function push(pad: PadContext, entry: NewEntry): Promise<AppendedEntry | Refusal<'not_found' | 'conflict'>> {
  const { ref, scratchpadId, store, streams } = pad;
  const { idempotency } = streams.command;
  const key = idempotency && { digest: idempotency.digest };
  let epoch = 0;
  const appended = await pad.consistency.run(() => {
    epoch = store.epoch.current();
    return store.ledger.append(ref, entry, key);
  });
  if (isRefusal(appended)) return appended;
  if (appended.earlier) return earlierAppend(pad, entry, appended, appended.earlier);
  await recordAppended(streams, scratchpadId, entry, appended);
  if (store.epoch.current() !== epoch) await assertStillThere(pad, entry, appended);
  return indexed(entry, appended.index);
}

const indexed = (entry: NewEntry, index: number): AppendedEntry => ({ ...entry, index });

/** Answers the entry that the same request appended before. Its event may still be missing; then it is recorded now. */
async function earlierAppend(
  { ref, scratchpadId, store, streams }: PadContext,
  again: NewEntry,
  { index, generation }: LedgerAppend,
  earlier: NonNullable<LedgerAppend['earlier']>,
): Promise<AppendedEntry | Refusal<'conflict'>> {
  const { command, aggregates } = streams;
  if (earlier.digest !== command.idempotency?.digest) return idempotencyCollision();
  command.markReplayed();
  const page = await store.ledger.read(ref, index - 1, 1);
  const kept = page?.generation === generation ? page.entries.find(({ id }) => id === again.id) : undefined;
  // The request is the same, so its words are, also when the entry was cleared since.
  const entry = { ...again, at: earlier.at, ...kept, kind: again.kind };
  const known = generationOf(await aggregates.load(ledger, scratchpadId), generation);
  if (known && !contains(known.covered, index)) {
    await recordAppended(streams, scratchpadId, entry, { index, generation });
  }
  return indexed(entry, index);
}

/** Checks that the entry still stands at its index, after the connection broke. Fails when: it does not → BackendUnavailable. */
async function assertStillThere(
  { ref, store, consistency }: PadContext,
  entry: NewEntry,
  { index, generation }: LedgerAppend,
): Promise<void> {
  const page = await consistency.run(() => store.ledger.read(ref, index - 1, 1));
  const isGone = isRefusal(page) || (page.generation === generation && page.entries.at(0)?.id !== entry.id);
  if (isGone) throw new BackendUnavailable('redis');
}
