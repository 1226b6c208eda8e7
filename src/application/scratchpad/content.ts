import { isRefusal, refuse, type Refusal } from '../../domain/kernel/refusal.js';
import * as scratchpads from '../../domain/scratchpad/scratchpad.js';
import { sha256 } from '../kernel/canonical-json.js';
import type { PadContent } from '../ports/content-store.js';
import { padStream } from './ledger-events.js';
import type { PadContext } from './pad-context.js';

export interface Content {
  readonly content: string;
  readonly revision: number;
  /** UTF-8. */
  readonly bytes: number;
  readonly sha256: string;
  readonly updatedAt: string;
  /** Present when the text of this revision is gone and what is left is of an earlier one. */
  readonly lost?: true;
}

/** Reads the content as the stream says it is. A text that was committed and not promoted yet is promoted by its reader. */
export async function readContent(pad: PadContext): Promise<Content | Refusal<'not_found'>> {
  const state = await pad.streams.aggregates.load(scratchpads.scratchpad, pad.scratchpadId);
  if (state.status !== 'open') return refuse('not_found');
  const stored = await readPromoted(pad, state);
  if (isRefusal(stored)) return stored;
  const { content, at } = stored;
  const isLost = stored.revision < state.contentRevision;
  const revision = isLost ? state.contentRevision : stored.revision;
  const read = { content, revision, bytes: Buffer.byteLength(content), sha256: sha256(content), updatedAt: at };
  return isLost ? { ...read, lost: true } : read;
}

async function readPromoted(
  { ref, store, consistency }: PadContext,
  { contentRevision, contentEventId, contentAt }: Extract<scratchpads.Scratchpad, { status: 'open' }>,
): Promise<PadContent | Refusal<'not_found'>> {
  const stored = await consistency.run(() => store.content.read(ref));
  if (isRefusal(stored) || stored.revision >= contentRevision || contentEventId === null) return stored;
  await store.content.promote(ref, contentRevision, contentEventId, contentAt);
  return consistency.run(() => store.content.read(ref));
}

export interface StoredContent {
  readonly revision: number;
  /** RFC 3339. */
  readonly at: string;
}

/** Replaces the content by a text. With `ifMatch`, only at that revision. */
export function setContent(
  pad: PadContext,
  content: string,
  ifMatch: number | undefined,
): Promise<StoredContent | Refusal<'not_found' | 'conflict'>> {
  const size = { bytes: Buffer.byteLength(content), sha256: sha256(content), author: pad.streams.command.author };
  return replaceContent(pad, content, (state) => scratchpads.setContent(state, size, ifMatch));
}

/** Empties the content. With `ifMatch`, only at that revision. */
export function clearContent(
  pad: PadContext,
  ifMatch: number | undefined,
): Promise<StoredContent | Refusal<'not_found' | 'conflict'>> {
  const { author } = pad.streams.command;
  return replaceContent(pad, '', (state) => scratchpads.clearContent(state, author, ifMatch));
}

/** The text is staged, the event at the exact revision is the commit, then the text is promoted (docs/flows.md#set-content). */
async function replaceContent(
  pad: PadContext,
  content: string,
  decide: (state: scratchpads.Scratchpad) => ReturnType<typeof scratchpads.setContent>,
): Promise<StoredContent | Refusal<'not_found' | 'conflict'>> {
  const { ref, store, streams } = pad;
  const eventId = streams.command.eventId(padStream(pad.scratchpadId));
  let staged: number | undefined;
  const outcome = await streams.aggregates.execute(scratchpads.scratchpad, pad.scratchpadId, async (state) => {
    const decision = decide(state);
    if (isRefusal(decision) || state.status !== 'open') return decision;
    const revision = state.contentRevision + 1;
    if (staged !== undefined && staged !== revision) await store.content.unstage(ref, staged, eventId);
    staged = revision;
    const isStaged = await pad.consistency.run(async () =>
      (await store.content.stage(ref, revision, eventId, content)) ? true : undefined,
    );
    return isRefusal(isStaged) ? isStaged : decision;
  });
  if (isRefusal(outcome)) {
    if (staged !== undefined) await store.content.unstage(ref, staged, eventId);
    return outcome;
  }
  const [event] = outcome.events;
  if (event?.type !== 'scratchpad.content_set' && event?.type !== 'scratchpad.content_cleared') {
    return refuse('not_found');
  }
  const { revision } = event.data;
  const promoted = await promote(pad, revision, event.id, event.at, content);
  return isRefusal(promoted) ? promoted : { revision, at: event.at };
}

/** Promotes a committed text. Why it may be staged again: it went with the server's last writes, or was taken for left over. */
async function promote(
  { ref, store, consistency }: PadContext,
  revision: number,
  eventId: string,
  at: string,
  content: string,
): Promise<true | Refusal<'not_found'>> {
  let isStaged = true;
  return consistency.run(async () => {
    if (!isStaged) await store.content.stage(ref, revision, eventId, content);
    isStaged = false;
    return (await store.content.promote(ref, revision, eventId, at)) ? true : undefined;
  });
}
