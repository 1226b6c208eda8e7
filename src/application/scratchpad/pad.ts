import type { PadRole } from '../../domain/kernel/roles.js';
import { isRefusal, type Refusal } from '../../domain/kernel/refusal.js';
import { clearContent, readContent, setContent, type Content, type StoredContent } from './content.js';
import { appendEntry, type AppendedEntry, type EntryDraft } from './entries/append.js';
import { clearEntries } from './entries/clear.js';
import { readMatching, type EntryPageRequest } from './entries/filter.js';
import type { EntryPage, LedgerCursor } from './entries/pages.js';
import { followPad, streamsOf, type PadEvent } from './live-events.js';
import type { PadContext, ScratchpadNeeds } from './pad-context.js';
import { verifyPad, type Verification } from './verify.js';
import { viewOf, type PadView } from './view.js';

export type { Content, EntryDraft, EntryPage, EntryPageRequest, LedgerCursor, PadView, Verification };

/** One scratchpad of one owner. Fails when: the pad is not open, or another owner's → `not_found`, the same for both. */
export interface Pad {
  /** The streams of the pad, as the audit trail names them. */
  readonly streams: readonly string[];
  append(
    draft: EntryDraft,
  ): Promise<AppendedEntry | Refusal<'not_found' | 'conflict' | 'authorization_refused' | 'validation_failed'>>;
  entries(request: EntryPageRequest): Promise<EntryPage | Refusal<'not_found'>>;
  /** Answers how many entries there were. */
  clearEntries(): Promise<number | Refusal<'not_found'>>;
  content(): Promise<Content | Refusal<'not_found'>>;
  /** With `ifMatch`, only at that content revision; else `conflict`. */
  setContent(text: string, ifMatch?: number): Promise<StoredContent | Refusal<'not_found' | 'conflict'>>;
  clearContent(ifMatch?: number): Promise<Refusal<'not_found' | 'conflict'> | undefined>;
  view(): Promise<PadView | Refusal<'not_found'>>;
  verify(): Promise<Verification | Refusal<'not_found'>>;
  /** Events after a position, until the pad ends or `stopped`; returns why they ended. */
  follow(after: bigint, stopped: AbortSignal): AsyncGenerator<PadEvent, string>;
}

export class OwnedPad implements Pad {
  constructor(
    private readonly context: PadContext,
    private readonly needs: ScratchpadNeeds,
    /** The role that the command acts in; undefined: the owner, who has both. */
    private readonly role: PadRole | undefined,
  ) {}

  get streams(): readonly string[] {
    return streamsOf(this.context.scratchpadId);
  }

  append(draft: EntryDraft) {
    return appendEntry(this.context, draft, this.role);
  }

  entries(request: EntryPageRequest) {
    return readMatching(this.context, request);
  }

  clearEntries() {
    return clearEntries(this.context);
  }

  content() {
    return readContent(this.context);
  }

  setContent(text: string, ifMatch?: number) {
    return setContent(this.context, text, ifMatch);
  }

  async clearContent(ifMatch?: number) {
    const cleared = await clearContent(this.context, ifMatch);
    return isRefusal(cleared) ? cleared : undefined;
  }

  view() {
    return viewOf(this.context);
  }

  verify() {
    return verifyPad(this.context);
  }

  follow(after: bigint, stopped: AbortSignal) {
    return followPad(this.context, this.needs, after, stopped);
  }
}
