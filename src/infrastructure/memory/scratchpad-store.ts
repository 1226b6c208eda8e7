import type { Entry, IndexedEntry, LedgerElements, LedgerAppend } from '../../application/ports/ledger-store.js';
import type { PadContent } from '../../application/ports/content-store.js';
import type { PadRef, PadState } from '../../application/ports/pad-keys.js';
import type { ScratchpadStore } from '../../application/ports/scratchpad-store.js';

type Element = Entry | 'lost' | { readonly entryId: string; readonly of: number };

interface List {
  readonly clears: number;
  readonly arranged: number;
  readonly elements: Element[];
  /** The clear that began it. */
  readonly by?: { readonly clearId: string; readonly removed: number };
}

interface Pad {
  content: PadContent;
  list: List;
  readonly staged: Map<string, { readonly revision: number; readonly eventId: string; readonly content: string }>;
  readonly cleared: Map<string, List>;
  readonly keyed: Map<string, LedgerAppend>;
}

const nameOf = ({ ownerId, scratchpadId }: PadRef) => `${ownerId}:${scratchpadId}`;
const stageOf = (revision: number, eventId: string) => `${revision}:${eventId}`;
const isEntry = (element: Element | undefined): element is Entry => typeof element === 'object' && 'content' in element;
const newList = (clears = 0, length = 0): List => ({
  ...{ clears, arranged: 0 },
  elements: Array<Element>(length).fill('lost'),
});

/** Working state for as long as the process lives; the same rules as the Redis one. */
export class MemoryScratchpadStore implements ScratchpadStore {
  private readonly pads = new Map<string, Pad>();
  private readonly refs = new Map<string, PadRef>();
  private readonly noted = new Set<string>();
  private readonly checks = new Set<string>();
  private connections = 1;

  async create(pad: PadRef, at: string, { clears, length } = { clears: 0, length: 0 }): Promise<void> {
    if (this.pads.has(nameOf(pad))) return;
    this.refs.set(nameOf(pad), pad);
    const content = { revision: 0, content: '', at };
    this.pads.set(nameOf(pad), {
      ...{ content, list: newList(clears, length) },
      ...{ staged: new Map(), cleared: new Map(), keyed: new Map() },
    });
  }

  async append(pad: PadRef, entry: Entry, key?: { readonly digest: string }): Promise<LedgerAppend | undefined> {
    const found = this.pads.get(nameOf(pad));
    const before = key && found?.keyed.get(entry.id);
    if (!found || before) return before;
    this.noted.add(nameOf(pad));
    const pushed = { index: found.list.elements.push(structuredClone(entry)), clears: found.list.clears };
    if (key) found.keyed.set(entry.id, { ...pushed, earlier: { at: entry.at, digest: key.digest } });
    return pushed;
  }

  async entries(pad: PadRef, after: number, limit: number, clearId?: string): Promise<LedgerElements | undefined> {
    const found = this.pads.get(nameOf(pad));
    const list = clearId === undefined ? found?.list : found?.cleared.get(clearId);
    return list && this.elementsOf(list, after, limit);
  }

  async latest(pad: PadRef, limit: number, bytes: number): Promise<LedgerElements | undefined> {
    const list = this.pads.get(nameOf(pad))?.list;
    if (!list) return undefined;
    let [count, left] = [0, bytes];
    for (const element of list.elements.slice(-limit).reverse()) {
      left -= Buffer.byteLength(JSON.stringify(element));
      if (left < 0 && count > 0) break;
      count += 1;
    }
    return this.elementsOf(list, list.elements.length - count, count);
  }

  private elementsOf(list: List, after: number, limit: number): LedgerElements {
    const page = list.elements
      .slice(after, after + limit)
      .map((element, place) => [element, after + place + 1] as const);
    return {
      entries: page.flatMap(([element, index]): IndexedEntry[] =>
        isEntry(element) ? [{ ...structuredClone(element), index }] : [],
      ),
      lost: page.flatMap(([element, index]) => (element === 'lost' ? [index] : [])),
      duplicates: page.flatMap(([element, index]) =>
        element === 'lost' || isEntry(element) ? [] : [{ ...element, index }],
      ),
      length: list.elements.length,
      holes: gapsIn(list),
      generation: list.clears,
      layoutVersion: list.arranged,
    };
  }

  async stage(pad: PadRef, revision: number, eventId: string, content: string): Promise<boolean> {
    const found = this.pads.get(nameOf(pad));
    found?.staged.set(stageOf(revision, eventId), { revision, eventId, content });
    if (found) this.noted.add(nameOf(pad));
    return found !== undefined;
  }

  async promote(pad: PadRef, revision: number, eventId: string, at: string): Promise<boolean> {
    const found = this.pads.get(nameOf(pad));
    const staged = found?.staged.get(stageOf(revision, eventId));
    if (!found) return false;
    if (staged && found.content.revision < revision) found.content = { revision, content: staged.content, at };
    for (const [name, other] of found.staged) if (other.revision <= found.content.revision) found.staged.delete(name);
    return found.content.revision >= revision;
  }

  async unstage(pad: PadRef, revision: number, eventId: string): Promise<void> {
    this.pads.get(nameOf(pad))?.staged.delete(stageOf(revision, eventId));
  }

  async content(pad: PadRef): Promise<PadContent | undefined> {
    return this.pads.get(nameOf(pad))?.content;
  }

  async clearEntries(
    pad: PadRef,
    clearId: string,
  ): Promise<{ readonly count: number; readonly lastEntryId?: string } | undefined> {
    const found = this.pads.get(nameOf(pad));
    if (!found) return undefined;
    if (!found.cleared.has(clearId)) {
      if (found.list.by?.clearId === clearId) return { count: found.list.by.removed };
      const removed = found.list.elements.length - gapsIn(found.list);
      found.cleared.set(clearId, found.list);
      found.list = { ...newList(found.list.clears + 1), by: { clearId, removed } };
      this.noted.add(nameOf(pad));
    }
    const list = found.cleared.get(clearId) ?? newList();
    const last = list.elements.at(-1);
    return { count: list.elements.length - gapsIn(list), ...(isEntry(last) && { lastEntryId: last.id }) };
  }

  async forgetCleared(pad: PadRef, clearId: string): Promise<void> {
    this.pads.get(nameOf(pad))?.cleared.delete(clearId);
  }

  async destroy(pad: PadRef): Promise<number> {
    const found = this.pads.get(nameOf(pad));
    this.pads.delete(nameOf(pad));
    return found ? 2 + found.cleared.size : 0;
  }

  async exists(pad: PadRef): Promise<boolean> {
    return this.pads.has(nameOf(pad));
  }

  async state(pad: PadRef): Promise<PadState> {
    const found = this.pads.get(nameOf(pad));
    return {
      ledger: found && { generation: found.list.clears, length: found.list.elements.length },
      contentRevision: found?.content.revision,
      at: found?.content.at ?? '',
      staged: [...(found?.staged.values() ?? [])].map(({ revision, eventId }) => ({ revision, eventId })),
      unfinishedClears: [...(found?.cleared.keys() ?? [])],
      idempotencyKeys: found?.keyed.size ?? 0,
    };
  }

  async mend(pad: PadRef, { clears, length }: { readonly clears: number; readonly length: number }): Promise<void> {
    const found = this.pads.get(nameOf(pad));
    if (!found || found.list.clears > clears) return;
    if (found.list.clears < clears) found.list = newList(clears);
    while (found.list.elements.length < length) found.list.elements.push('lost');
  }

  async rearrange(
    pad: PadRef,
    {
      generation: clears,
      length,
      layoutVersion: arranged,
    }: Pick<LedgerElements, 'generation' | 'length' | 'layoutVersion'>,
    order: readonly number[],
    forget: readonly string[],
  ): Promise<boolean> {
    const found = this.pads.get(nameOf(pad));
    if (!found) return false;
    const { list, keyed } = found;
    if (list.clears !== clears || list.arranged !== arranged || list.elements.length !== length) return false;
    const elements = order.map((index): Element => list.elements[index - 1] ?? 'lost');
    found.list = { ...list, elements, arranged: arranged + 1 };
    for (const id of forget) keyed.delete(id);
    return true;
  }

  async markRepeated(
    pad: PadRef,
    { clears, index, entryId, of }: { clears: number; index: number; entryId: string; of: number },
  ): Promise<void> {
    const list = this.pads.get(nameOf(pad))?.list;
    const element = list?.elements[index - 1];
    if (list?.clears === clears && isEntry(element) && element.id === entryId)
      list.elements[index - 1] = { entryId, of };
  }

  async pruneKeyed(pad: PadRef, keep: number): Promise<void> {
    const keyed = this.pads.get(nameOf(pad))?.keyed ?? new Map<string, LedgerAppend>();
    for (const id of [...keyed.keys()].slice(0, Math.max(0, keyed.size - keep))) keyed.delete(id);
  }

  async touched(limit: number): Promise<readonly PadRef[]> {
    return [...this.noted].slice(0, limit).flatMap((name) => this.refs.get(name) ?? []);
  }

  async settled(pad: PadRef): Promise<void> {
    this.noted.delete(nameOf(pad));
  }

  async *scan(): AsyncIterable<PadRef> {
    for (const name of this.pads.keys()) {
      const ref = this.refs.get(name);
      if (ref) yield Promise.resolve(ref);
    }
  }

  async runId(): Promise<string> {
    return 'memory';
  }

  connection(): number {
    return this.connections;
  }

  isChecked(pad: PadRef): boolean {
    return this.checks.has(nameOf(pad));
  }

  checked(pad: PadRef, connection: number): void {
    if (connection === this.connections) this.checks.add(nameOf(pad));
  }

  /** As if the server had come back without what was appended last. */
  loseTail(pad: PadRef, keep: number): void {
    const found = this.pads.get(nameOf(pad));
    for (const element of found?.list.elements.splice(keep) ?? [])
      if (isEntry(element)) found?.keyed.delete(element.id);
    this.reconnect();
  }

  /** As if the server had come back without the texts that were staged last. */
  loseStaged(pad: PadRef): void {
    this.pads.get(nameOf(pad))?.staged.clear();
    this.reconnect();
  }

  /** As if the server had come back with an entry once more that it had lost, right after the `keep`-th. */
  bringBack(pad: PadRef, keep: number, entry: Entry): void {
    this.pads.get(nameOf(pad))?.list.elements.splice(keep, 0, entry);
    this.reconnect();
  }

  /** As if somebody had emptied the server while it ran. */
  loseEverything(): void {
    this.pads.clear();
    this.noted.clear();
  }

  /** As if the connection had broken. */
  reconnect(): void {
    this.connections += 1;
    this.checks.clear();
  }
}

const gapsIn = ({ elements }: List): number => elements.filter((element) => !isEntry(element)).length;
