import { refuse, type Refusal } from '../../../domain/kernel/refusal.js';
import type { EntryKind } from '../../../domain/scratchpad/entry-kinds.js';
import { generationOf, ledger } from '../../../domain/scratchpad/ledger.js';
import { contains } from '../../../domain/scratchpad/index-ranges.js';
import { sha256 } from '../../kernel/canonical-json.js';
import type { OperationContext } from '../../operation/context.js';
import { completeClear } from './clear.js';
import { isSound, reconcile } from '../consistency.js';
import { recordAppended } from '../ledger-events.js';
import { BackendUnavailable } from '../../faults/errors.js';
import type { Entry, IndexedEntry, LedgerAppend } from '../../ports/ledger-store.js';
import type { PadRef } from '../../ports/pad-keys.js';
import { idempotencyCollision } from '../../event-sourcing/aggregates.js';

export interface EntryDraft {
  readonly content: string;
  readonly kind: EntryKind;
  readonly fields: Readonly<Record<string, unknown>>;
}

type Writer = Pick<
  OperationContext,
  'ids' | 'author' | 'correlationId' | 'streams' | 'working' | 'now' | 'idempotency'
>;
type AppendedEntry = IndexedEntry & { readonly kind: EntryKind };

export async function appendToLedger(
  pad: PadRef,
  draft: EntryDraft,
  writer: Writer,
): Promise<AppendedEntry | Refusal<'not_found' | 'conflict'>> {
  const entry = {
    id: writer.ids.make('entry'),
    ...draft,
    author: writer.author,
    bytes: Buffer.byteLength(draft.content),
    sha256: sha256(draft.content),
    at: writer.now().toISOString(),
    correlationId: writer.correlationId,
  };
  if (!(await isSound(pad, writer))) return refuse('not_found');
  const connection = writer.working.epoch.current();
  const pushed = await pushedTo(pad, entry, writer);
  if (!pushed) return refuse('not_found');
  if (pushed.earlier) return earlierAppend(pad, entry, pushed, pushed.earlier, writer);
  await recordAppended(pad.scratchpadId, entry, pushed, writer.streams);
  if (writer.working.epoch.current() !== connection) await assertStillThere(pad, entry, pushed, writer);
  return { ...entry, index: pushed.index };
}

/** One push. When the list is not there it is either not made yet or gone: the stream knows, and a living pad gets its keys. */
async function pushedTo(pad: PadRef, entry: Entry, writer: Writer): Promise<LedgerAppend | undefined> {
  const key = writer.idempotency && { digest: writer.idempotency.digest };
  const pushed = await writer.working.ledger.append(pad, entry, key);
  if (pushed) return pushed;
  return (await reconcile(pad, writer)) ? writer.working.ledger.append(pad, entry, key) : undefined;
}

/** The same request was made before, and this is its outcome; its audit event may still be missing. */
async function earlierAppend(
  pad: PadRef,
  again: Entry & { readonly kind: EntryKind },
  { index, generation: clears }: LedgerAppend,
  before: NonNullable<LedgerAppend['earlier']>,
  { streams, working, idempotency }: Writer,
): Promise<AppendedEntry | Refusal<'conflict'>> {
  if (before.digest !== idempotency?.digest) return idempotencyCollision();
  streams.again();
  const page = await working.ledger.read(pad, index - 1, 1);
  const kept = page?.generation === clears ? page.entries.find(({ id }) => id === again.id) : undefined;
  // The request is the same, so its words are, also when the entry was cleared since.
  const entry = { ...again, at: before.at, ...kept, kind: again.kind };
  const era = generationOf(await streams.load(ledger, pad.scratchpadId), clears);
  if (era && !contains(era.covered, index)) await recordAppended(pad.scratchpadId, entry, { index, clears }, streams);
  return { ...entry, index };
}

/** The connection broke since the push: is the entry still what stands at its index? If not, it is not acknowledged. */
async function assertStillThere(
  pad: PadRef,
  entry: Entry,
  { index, generation: clears }: LedgerAppend,
  writer: Writer,
): Promise<void> {
  if (!(await isSound(pad, writer))) throw new BackendUnavailable('redis');
  const page = await writer.working.ledger.read(pad, index - 1, 1);
  if (page?.generation === clears && page.entries.at(0)?.id !== entry.id) throw new BackendUnavailable('redis');
}

/** Empties the ledger; the removed entries stay aside until the events that tell of them are stored. */
export async function clearLedger(
  pad: PadRef,
  writer: Pick<OperationContext, 'ids' | 'streams' | 'working'>,
): Promise<number | Refusal<'not_found'>> {
  if (!(await isSound(pad, writer))) return refuse('not_found');
  const clearId = writer.ids.uuid('clear');
  const { finished } = await writer.streams.load(ledger, pad.scratchpadId);
  const before = finished.find((clear) => clear.clearId === clearId);
  if (before) {
    writer.streams.again();
    return before.count;
  }
  const cleared =
    (await writer.working.ledger.clear(pad, clearId)) ??
    ((await reconcile(pad, writer)) ? await writer.working.ledger.clear(pad, clearId) : undefined);
  if (!cleared) return refuse('not_found');
  await completeClear(pad, clearId, writer);
  return cleared.count;
}
