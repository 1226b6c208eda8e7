import { refuse, isRefusal, type Refusal } from '../../domain/kernel/refusal.js';
import * as scratchpads from '../../domain/scratchpad/scratchpad.js';
import { sha256 } from '../kernel/canonical-json.js';
import type { Author } from '../../domain/kernel/author.js';
import { reconcile } from './consistency.js';
import type { PadContext } from './lifecycle.js';
import type { PadRef } from '../ports/pad-keys.js';

export interface Content {
  readonly content: string;
  readonly revision: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly updatedAt: string;
  /** Present when the text of this revision is gone and what is left is of an earlier one. */
  readonly lost?: true;
}

/** Content as the stream says it is; a text that was committed and not promoted yet is promoted by its reader. */
export async function readContent(pad: PadRef, work: PadContext): Promise<Content | Refusal<'not_found'>> {
  const state = await work.streams.load(scratchpads.scratchpad, pad.scratchpadId);
  if (state.status !== 'open') return refuse('not_found');
  const stored = await promoted(pad, state, work);
  if (!stored) return refuse('not_found');
  const { content } = stored;
  const told = { bytes: Buffer.byteLength(content), sha256: sha256(content), updatedAt: stored.at };
  if (stored.revision >= state.contentRevision) return { content, revision: stored.revision, ...told };
  return { content, revision: state.contentRevision, ...told, lost: true };
}

async function promoted(pad: PadRef, state: Extract<scratchpads.Scratchpad, { status: 'open' }>, work: PadContext) {
  const stored = await work.working.content.read(pad);
  if (!stored) return (await reconcile(pad, work)) ? work.working.content.read(pad) : undefined;
  if (stored.revision >= state.contentRevision || state.contentEventId === null) return stored;
  await work.working.content.promote(pad, state.contentRevision, state.contentEventId, state.contentAt);
  return work.working.content.read(pad);
}

/**
 * Replaces the content: the text is staged, the event at the exact revision is the commit, then the text is promoted
 * (03-flows "Content"). `decide` says which event that is, so that setting and clearing take the same path.
 */
export async function replaceContent(
  pad: PadRef,
  content: string,
  work: PadContext,
  decide: (state: scratchpads.Scratchpad) => ReturnType<typeof scratchpads.setContent>,
): Promise<
  { readonly revision: number; readonly at: string; readonly replayed: boolean } | Refusal<'not_found' | 'conflict'>
> {
  const eventId = work.streams.eventId(`scratchpad-${pad.scratchpadId}`);
  let staged: number | undefined;
  const outcome = await work.streams.execute(scratchpads.scratchpad, pad.scratchpadId, async (state) => {
    const decision = decide(state);
    if (isRefusal(decision) || state.status !== 'open') return decision;
    const revision = state.contentRevision + 1;
    if (staged !== undefined && staged !== revision) await work.working.content.unstage(pad, staged, eventId);
    staged = revision;
    if (await work.working.content.stage(pad, revision, eventId, content)) return decision;
    // Absent: not made yet, or destroyed. The stream knows.
    if (!(await reconcile(pad, work))) return refuse('not_found');
    return (await work.working.content.stage(pad, revision, eventId, content)) ? decision : refuse('not_found');
  });
  if (isRefusal(outcome)) {
    if (staged !== undefined) await work.working.content.unstage(pad, staged, eventId);
    return outcome;
  }
  const [event] = outcome.events;
  if (event?.type !== 'scratchpad.content_set' && event?.type !== 'scratchpad.content_cleared')
    return refuse('not_found');
  const { revision } = event.data;
  if (!(await work.working.content.promote(pad, revision, event.id, event.at))) {
    // It was committed, and what was staged is gone: with the server's last writes, or taken for left over.
    if (!(await reconcile(pad, work))) return refuse('not_found');
    await work.working.content.stage(pad, revision, event.id, content);
    await work.working.content.promote(pad, revision, event.id, event.at);
  }
  return { revision, at: event.at, replayed: outcome.replayed };
}

export const sizeOf = (content: string, author: Author) => ({
  bytes: Buffer.byteLength(content),
  sha256: sha256(content),
  author,
});
