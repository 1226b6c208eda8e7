import type { ConnectionEpoch } from '../../application/ports/connection-epoch.js';
import type { ContentStore, PadContent } from '../../application/ports/content-store.js';
import type { DirtyPads } from '../../application/ports/dirty-pads.js';
import type { LedgerRepair } from '../../application/ports/ledger-repair.js';
import type { Entry, LedgerAppend, LedgerStore } from '../../application/ports/ledger-store.js';
import type { PadKeys, PadRef } from '../../application/ports/pad-keys.js';
import type { ScratchpadStore } from '../../application/ports/scratchpad-store.js';
import * as lists from '../../domain/scratchpad/ledger-list.js';
import { elementsOf, tailOf, type List } from './ledger-elements.js';

interface StoredPad {
  content: PadContent;
  list: List;
  /** The clear that began the list, and how many entries it removed. */
  begunBy: { readonly clearId: string; readonly removed: number } | undefined;
  readonly staged: Map<string, { readonly revision: number; readonly eventId: string; readonly content: string }>;
  readonly cleared: Map<string, List>;
  readonly appends: Map<string, LedgerAppend>;
}

const nameOf = ({ ownerId, scratchpadId }: PadRef) => `${ownerId}:${scratchpadId}`;
const stageName = (revision: number, eventId: string) => `${revision}:${eventId}`;

/** The scratchpad store for as long as the process lives, on the rules of the list as a value. */
export class MemoryScratchpadStore implements ScratchpadStore {
  readonly ledger: LedgerStore;
  readonly content: ContentStore;
  readonly keys: PadKeys;
  readonly repair: LedgerRepair;
  readonly dirtyPads: DirtyPads;
  readonly epoch: ConnectionEpoch;
  private readonly pads = new Map<string, StoredPad>();
  private readonly refs = new Map<string, PadRef>();
  private readonly dirty = new Set<string>();
  private readonly verified = new Set<string>();
  private epochNumber = 1;

  constructor() {
    this.ledger = this.ledgerStore();
    this.content = this.contentStore();
    this.keys = this.padKeys();
    this.repair = this.ledgerRepair();
    this.dirtyPads = this.dirtyPadsPort();
    this.epoch = this.connectionEpoch();
  }

  /** As if the server had come back without what was appended last. */
  loseTail(ref: PadRef, keep: number): void {
    const pad = this.pads.get(nameOf(ref));
    if (pad) {
      for (const element of pad.list.elements.slice(keep)) if (lists.isEntry(element)) pad.appends.delete(element.id);
      pad.list = { ...pad.list, elements: pad.list.elements.slice(0, keep) };
    }
    this.reconnect();
  }

  /** As if the server had come back without the texts that were staged last. */
  loseStaged(ref: PadRef): void {
    this.pads.get(nameOf(ref))?.staged.clear();
    this.reconnect();
  }

  /** As if the server had come back with an entry once more that it had lost, right after the `keep`-th. */
  bringBack(ref: PadRef, keep: number, entry: Entry): void {
    const pad = this.pads.get(nameOf(ref));
    if (pad) pad.list = { ...pad.list, elements: pad.list.elements.toSpliced(keep, 0, entry) };
    this.reconnect();
  }

  /** As if the server had been emptied while it ran. */
  loseEverything(): void {
    this.pads.clear();
    this.dirty.clear();
  }

  /** As if the connection had broken. */
  reconnect(): void {
    this.epochNumber += 1;
    this.verified.clear();
  }

  private ledgerStore(): LedgerStore {
    return {
      append: async (ref, entry, key) => {
        const pad = this.pads.get(nameOf(ref));
        const earlier = key && pad?.appends.get(entry.id);
        if (!pad || earlier) return earlier;
        this.dirty.add(nameOf(ref));
        pad.list = lists.append(pad.list, structuredClone(entry));
        const appended = { index: pad.list.elements.length, generation: pad.list.generation };
        if (key) pad.appends.set(entry.id, { ...appended, earlier: { at: entry.at, digest: key.digest } });
        return appended;
      },
      read: async (ref, after, limit, clearId) => {
        const pad = this.pads.get(nameOf(ref));
        const list = clearId === undefined ? pad?.list : pad?.cleared.get(clearId);
        return list && elementsOf(list, after, limit);
      },
      tail: async (ref, limit, bytes) => {
        const list = this.pads.get(nameOf(ref))?.list;
        return list && tailOf(list, limit, bytes);
      },
      clear: async (ref, clearId) => {
        const pad = this.pads.get(nameOf(ref));
        if (!pad) return undefined;
        const copy = pad.cleared.get(clearId);
        if (!copy && pad.begunBy?.clearId === clearId) return { count: pad.begunBy.removed };
        const removed = copy ?? pad.list;
        if (!copy) {
          pad.cleared.set(clearId, removed);
          pad.begunBy = { clearId, removed: removed.elements.length - lists.holesIn(removed) };
          pad.list = lists.clear(removed);
          this.dirty.add(nameOf(ref));
        }
        const last = removed.elements.at(-1);
        const count = removed.elements.length - lists.holesIn(removed);
        return lists.isEntry(last) ? { count, lastEntryId: last.id } : { count };
      },
      dropCleared: async (ref, clearId) => {
        this.pads.get(nameOf(ref))?.cleared.delete(clearId);
      },
    };
  }

  private contentStore(): ContentStore {
    return {
      read: async (ref) => this.pads.get(nameOf(ref))?.content,
      stage: async (ref, revision, eventId, content) => {
        const pad = this.pads.get(nameOf(ref));
        pad?.staged.set(stageName(revision, eventId), { revision, eventId, content });
        if (pad) this.dirty.add(nameOf(ref));
        return pad !== undefined;
      },
      promote: async (ref, revision, eventId, at) => {
        const pad = this.pads.get(nameOf(ref));
        if (!pad) return false;
        const staged = pad.staged.get(stageName(revision, eventId));
        if (staged && pad.content.revision < revision) pad.content = { revision, content: staged.content, at };
        for (const [name, other] of pad.staged) if (other.revision <= pad.content.revision) pad.staged.delete(name);
        return pad.content.revision >= revision;
      },
      unstage: async (ref, revision, eventId) => {
        this.pads.get(nameOf(ref))?.staged.delete(stageName(revision, eventId));
      },
    };
  }

  private padKeys(): PadKeys {
    return {
      create: async (ref, at, extent) => {
        if (this.pads.has(nameOf(ref))) return;
        this.refs.set(nameOf(ref), ref);
        this.pads.set(nameOf(ref), {
          content: { revision: 0, content: '', at },
          list: lists.newList(extent),
          begunBy: undefined,
          staged: new Map(),
          cleared: new Map(),
          appends: new Map(),
        });
      },
      destroy: async (ref) => {
        const pad = this.pads.get(nameOf(ref));
        this.pads.delete(nameOf(ref));
        return pad ? 2 + pad.cleared.size : 0;
      },
      exists: async (ref) => this.pads.has(nameOf(ref)),
      state: async (ref) => {
        const pad = this.pads.get(nameOf(ref));
        return {
          ledger: pad && lists.extentOf(pad.list),
          contentRevision: pad?.content.revision,
          at: pad?.content.at ?? '',
          staged: [...(pad?.staged.values() ?? [])].map(({ revision, eventId }) => ({ revision, eventId })),
          unfinishedClears: [...(pad?.cleared.keys() ?? [])],
          idempotencyKeys: pad?.appends.size ?? 0,
        };
      },
    };
  }

  private ledgerRepair(): LedgerRepair {
    return {
      fastForward: async (ref, extent) => {
        const pad = this.pads.get(nameOf(ref));
        if (pad) pad.list = lists.fastForward(pad.list, extent);
      },
      reorder: async (ref, seen, order, forget) => {
        const pad = this.pads.get(nameOf(ref));
        const list = pad && lists.reorder(pad.list, seen, order);
        if (!list) return false;
        pad.list = list;
        for (const id of forget) pad.appends.delete(id);
        return true;
      },
      markDuplicate: async (ref, duplicate) => {
        const pad = this.pads.get(nameOf(ref));
        if (pad) pad.list = lists.markDuplicate(pad.list, duplicate);
      },
      pruneIdempotencyKeys: async (ref, keep) => {
        const appends = this.pads.get(nameOf(ref))?.appends ?? new Map<string, LedgerAppend>();
        for (const id of [...appends.keys()].slice(0, Math.max(0, appends.size - keep))) appends.delete(id);
      },
    };
  }

  private dirtyPadsPort(): DirtyPads {
    const { pads, refs, dirty } = this;
    return {
      take: async (limit) => [...dirty].slice(0, limit).flatMap((name) => refs.get(name) ?? []),
      markClean: async (ref) => {
        dirty.delete(nameOf(ref));
      },
      async *scan() {
        for (const name of pads.keys()) {
          const ref = refs.get(name);
          if (ref) yield Promise.resolve(ref);
        }
      },
    };
  }

  private connectionEpoch(): ConnectionEpoch {
    return {
      current: () => this.epochNumber,
      isVerified: (ref) => this.verified.has(nameOf(ref)),
      markVerified: (ref, epoch) => {
        if (epoch === this.epochNumber) this.verified.add(nameOf(ref));
      },
      serverRunId: async () => 'memory',
    };
  }
}
