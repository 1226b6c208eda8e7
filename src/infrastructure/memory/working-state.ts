import type { Entry, IndexedEntry, PadContent, PadRef, WorkingState } from '../../application/ports.js';

interface Pad {
  content: PadContent;
  entries: Entry[];
  readonly staged: Map<string, { readonly revision: number; readonly content: string }>;
  readonly cleared: Map<string, readonly Entry[]>;
}

const nameOf = ({ ownerId, scratchpadId }: PadRef) => `${ownerId}:${scratchpadId}`;
const stageOf = (revision: number, eventId: string) => `${revision}:${eventId}`;

/** Working state for as long as the process lives; the same rules as the Redis one. */
export class MemoryWorkingState implements WorkingState {
  private readonly pads = new Map<string, Pad>();

  create(pad: PadRef, at: string): Promise<void> {
    if (!this.pads.has(nameOf(pad))) {
      const content = { revision: 0, content: '', at };
      this.pads.set(nameOf(pad), { content, entries: [], staged: new Map(), cleared: new Map() });
    }
    return Promise.resolve();
  }

  append(pad: PadRef, entry: Entry): Promise<number | undefined> {
    return Promise.resolve(this.pads.get(nameOf(pad))?.entries.push(structuredClone(entry)));
  }

  entries(
    pad: PadRef,
    after: number,
    limit: number,
  ): Promise<{ readonly entries: readonly IndexedEntry[]; readonly length: number } | undefined> {
    const found = this.pads.get(nameOf(pad));
    if (!found) return Promise.resolve(undefined);
    const entries = found.entries
      .slice(after, after + limit)
      .map((entry, place) => ({ ...structuredClone(entry), index: after + place + 1 }));
    return Promise.resolve({ entries, length: found.entries.length });
  }

  stage(pad: PadRef, revision: number, eventId: string, content: string): Promise<boolean> {
    return Promise.resolve(
      this.pads.get(nameOf(pad))?.staged.set(stageOf(revision, eventId), { revision, content }) !== undefined,
    );
  }

  promote(pad: PadRef, revision: number, eventId: string, at: string): Promise<void> {
    const found = this.pads.get(nameOf(pad));
    const staged = found?.staged.get(stageOf(revision, eventId));
    if (!found || !staged) return Promise.resolve();
    if (found.content.revision < revision) found.content = { revision, content: staged.content, at };
    for (const [name, other] of found.staged) if (other.revision <= revision) found.staged.delete(name);
    return Promise.resolve();
  }

  unstage(pad: PadRef, revision: number, eventId: string): Promise<void> {
    this.pads.get(nameOf(pad))?.staged.delete(stageOf(revision, eventId));
    return Promise.resolve();
  }

  content(pad: PadRef): Promise<PadContent | undefined> {
    return Promise.resolve(this.pads.get(nameOf(pad))?.content);
  }

  clearEntries(
    pad: PadRef,
    clearId: string,
  ): Promise<{ readonly count: number; readonly lastEntryId?: string } | undefined> {
    const found = this.pads.get(nameOf(pad));
    if (!found) return Promise.resolve(undefined);
    const removed = found.cleared.get(clearId) ?? found.entries;
    if (!found.cleared.has(clearId)) {
      found.cleared.set(clearId, removed);
      found.entries = [];
    }
    const last = removed.at(-1);
    return Promise.resolve({ count: removed.length, ...(last && { lastEntryId: last.id }) });
  }

  forgetCleared(pad: PadRef, clearId: string): Promise<void> {
    this.pads.get(nameOf(pad))?.cleared.delete(clearId);
    return Promise.resolve();
  }

  destroy(pad: PadRef): Promise<number> {
    const found = this.pads.get(nameOf(pad));
    this.pads.delete(nameOf(pad));
    return Promise.resolve(found ? 2 + found.cleared.size : 0);
  }

  exists(pad: PadRef): Promise<boolean> {
    return Promise.resolve(this.pads.has(nameOf(pad)));
  }
}
