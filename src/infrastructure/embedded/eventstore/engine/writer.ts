import { Batcher } from '../../../../application/kernel/concurrency/batcher.js';
import { BatchPacing } from '../../../../application/kernel/concurrency/batch-pacing.js';
import type { EventStorage, StoredHead } from '../store/storage.js';
import { Batch } from './batch.js';
import { decide, decideCompared, recreates, type Wish } from './decide.js';
import {
  METADATA_TYPE,
  metastreamOf,
  ownerOf,
  isMetastream,
  TOMBSTONE_REVISION,
  TOMBSTONE_TYPE,
  type ProposedEvent,
  type StoredEvent,
} from './events.js';
import type { Outcome } from './expectation.js';
import { Head } from './head.js';
import { CACHED_HEADS, RECENT_IDS } from './limits.js';
import { Lru } from './lru.js';
import { SOFT_DELETE, undeletedFrom } from './metadata.js';
import { newId } from './new-id.js';
import { RecentIds } from './recent-ids.js';

/** A wish with whoever waits for its outcome. */
export interface Request extends Wish {
  /** Bytes that it keeps in memory until it is answered. */
  readonly bytes: number;
  /** True once it was answered, as when its time ran out. */
  readonly over: boolean;
  answer(outcome: Outcome): void;
}

const NOTHING: Buffer = Buffer.alloc(0);
const PRUNE_EVERY = 1000;

/**
 * Decides requests one after the other and commits them in groups: while one group is on its way to disk, the next
 * gathers, each request judged as if the groups before it were already stored. If one fails, so do all behind it.
 */
export class Writer {
  private queue: Request[] = [];
  private readonly heads = new Lru<Head>(CACHED_HEADS, (head) => head.pending !== undefined);
  private readonly recent = new RecentIds();
  /** Heads on their way from storage to readers, of streams that nobody wrote to since. */
  private readonly glances = new Map<string, Promise<Head>>();
  /** One query for all who look at the same time. */
  private readonly look = new Batcher<string, StoredHead>({
    max: 1000,
    paced: true,
    run: (streams) => this.storage.heads(streams),
  });
  private readonly pace = new BatchPacing();
  private open = new Batch();
  private committing: Batch | undefined;
  private scheduled = false;
  private pumping = false;
  private blocked = false;
  private position = 0;
  private running = false;
  /** Counts restarts, so that what was asked of storage before one is not believed after it. */
  private term = 0;

  constructor(
    private readonly storage: EventStorage,
    private readonly published: (events: readonly StoredEvent[]) => void,
    private readonly failed: (fault: unknown) => void,
  ) {}

  /** Begins to write, and answers a position behind every event so far and before those to come. */
  async start(): Promise<number> {
    const stored = await this.storage.maxPosition();
    await this.remember(stored);
    this.position = positionAfter(Math.max(this.position, stored));
    this.running = true;
    this.pump();
    return this.position;
  }

  /** Stops writing: what is under way ends as unknown, what is queued waits for the next start. */
  stop(): void {
    this.term += 1;
    this.running = false;
    this.blocked = false;
    this.heads.clear();
    this.glances.clear();
    this.recent.clear();
    const batches = [this.committing, this.open];
    this.committing = undefined;
    this.open = new Batch();
    for (const batch of batches) batch?.settle(false);
  }

  submit(request: Request): void {
    this.queue.push(request);
    // While storage hangs, those whose time ran out must not pile up.
    if (this.queue.length % PRUNE_EVERY === 0 && !this.pumping) this.queue = this.queue.filter(({ over }) => !over);
    if (this.running && !this.blocked) this.pump();
  }

  /** Resolves when what has been decided by now is durable and answered. */
  async drain(): Promise<void> {
    const { committing, open } = this;
    if (open.events.length > 0) await open.settled();
    else await committing?.settled();
  }

  /** The stream's head if it is known and holds nothing that is not durable yet. */
  private committedHead(stream: string): Head | undefined {
    const head = this.heads.get(stream);
    return this.running && head?.pending === undefined ? head : undefined;
  }

  /**
   * The stream's head as it is stored. One that was not known is known from then on: most who look at a stream that is
   * not there are about to begin it, and the write then finds its head without asking again. A head that is answered at
   * once is the writer's own: look at it before anything else happens.
   */
  storedHead(stream: string): Head | Promise<Head> {
    return this.committedHead(stream) ?? this.glances.get(stream) ?? this.glanceAt(stream);
  }

  private glanceAt(stream: string): Promise<Head> {
    const { term } = this;
    const glance = this.look.add(stream).then((stored) => {
      // What was written meanwhile has put an end to the glance.
      const isCurrent = this.glances.get(stream) === glance && this.running && term === this.term;
      if (isCurrent && !this.heads.get(stream)) this.heads.set(stream, new Head(stored));
      return new Head(stored);
    });
    this.glances.set(stream, glance);
    const end = () => {
      if (this.glances.get(stream) === glance) this.glances.delete(stream);
    };
    glance.then(end, end);
    return glance;
  }

  /** Reads back the ids written last. */
  private async remember(last: number): Promise<void> {
    let from = last;
    for (let known = 0; known < RECENT_IDS / 8 && from > 0;) {
      const page = await this.storage.readAll({ from, backwards: true, limit: 1000 });
      if (page.length === 0) return;
      for (const event of page.toReversed()) this.recent.add(event);
      known += page.length;
      from = (page.at(-1)?.position ?? 0) - 1;
    }
  }

  private pump(): void {
    if (this.pumping) return;
    this.pumping = true;
    let taken = 0;
    for (const request of this.queue) {
      if (this.blocked || this.open.full) break;
      if (!request.over && !this.take(request)) break;
      taken += 1;
    }
    this.queue.splice(0, taken);
    this.pumping = false;
    this.schedule();
  }

  /** Decides one request, or answers false when something must be fetched first. */
  private take(request: Request): boolean {
    const head = this.heads.get(ownerOf(request.stream));
    if (!head) {
      this.block(this.fetchHeads());
      return false;
    }
    const verdict = decide(request, head, this.recent);
    if (verdict === 'compare') return this.compare(request, head);
    this.conclude(request, head, verdict);
    return true;
  }

  private conclude(request: Request, head: Head, verdict: 'write' | Outcome): void {
    if (verdict === 'write') this.write(request, head);
    else this.answerWhenDurable(head, request, verdict);
  }

  /** An answer that rests on events under way must not be given before they are durable. */
  private answerWhenDurable(head: Head, request: Request, outcome: Outcome): void {
    if (head.pending) head.pending.answer(outcome, (settled) => request.answer(settled));
    else request.answer(outcome);
  }

  // Only the re-creation of a deleted stream can end in a write; it alone holds up those behind it.
  private compare(request: Request, head: Head): boolean {
    const mayWrite = request.expected === 'no_stream' && recreates(-1, head, request.stream);
    const compared = this.compareStored(request, head);
    if (mayWrite) this.block(compared);
    return true;
  }

  private async compareStored(request: Request, head: Head): Promise<void> {
    const { term } = this;
    try {
      if (head.pending) await head.pending.settled();
      const from = (typeof request.expected === 'number' ? request.expected : -1) + 1;
      const limit = Math.max(1, request.events.length);
      const stored = await this.storage.readStream(request.stream, { from, backwards: false, limit });
      if (term !== this.term) return request.answer({ kind: 'unknown' });
      this.conclude(
        request,
        head,
        decideCompared(
          request,
          head,
          stored.filter((event, index) => event.revision === from + index),
        ),
      );
    } catch {
      request.answer({ kind: 'unknown' });
    }
  }

  private block(until: Promise<void>): void {
    const { term } = this;
    this.blocked = true;
    void until.finally(() => {
      if (term !== this.term) return;
      this.blocked = false;
      this.pump();
    });
  }

  /** Fetches the heads of everything queued that is not known, in one query. */
  private async fetchHeads(): Promise<void> {
    const { term } = this;
    const owners = new Set(this.queue.slice(0, 1000).map((request) => ownerOf(request.stream)));
    const missing = [...owners].filter((owner) => !this.heads.get(owner));
    try {
      const stored = await this.storage.heads(missing);
      if (term !== this.term) return;
      for (const [index, head] of stored.entries()) this.heads.set(missing[index] ?? '', new Head(head));
    } catch (fault) {
      if (term === this.term) this.fail(fault);
    }
  }

  private write(request: Request, head: Head): void {
    const { stream } = request;
    const undeletes = head.truncation.softDeleted && request.kind === 'append';
    const outcome = this.place(request, head);
    if (undeletes) {
      const revision = isMetastream(stream) ? head.events.last + 1 : outcome.revision - request.events.length + 1;
      this.put(metastreamOf(ownerOf(stream)), event(METADATA_TYPE, undeletedFrom(head.metadata, revision)), head);
    }
    this.open.answer(outcome, (settled) => request.answer(settled));
  }

  /** Gives the request's events their places, and answers the outcome that holds once they are durable. */
  private place({ kind, stream, events }: Request, head: Head): Outcome & { kind: 'written' } {
    if (kind === 'delete') {
      const { revision, position } = this.put(metastreamOf(stream), event(METADATA_TYPE, SOFT_DELETE), head);
      return { kind: 'written', revision, position };
    }
    if (kind === 'tombstone') {
      const { revision, position } = this.put(stream, event(TOMBSTONE_TYPE, NOTHING), head, TOMBSTONE_REVISION);
      return { kind: 'written', revision, position };
    }
    let last: StoredEvent | undefined;
    for (const proposed of events) last = this.put(stream, proposed, head);
    return { kind: 'written', revision: last?.revision ?? -1, position: last?.position };
  }

  private put(stream: string, proposed: ProposedEvent, head: Head, at?: number): StoredEvent {
    const { id, type, json, data, metadata } = proposed;
    const revision = at ?? head.tipOf(stream).last + 1;
    this.position = positionAfter(this.position);
    const stored = { stream, revision, position: this.position, id, type, json, created: Date.now(), data, metadata };
    head.apply(stored);
    this.glances.delete(ownerOf(stream));
    this.recent.add(stored);
    this.open.add(stored, head);
    return stored;
  }

  /** Commits once everything that arrived together has been decided. */
  private schedule(): void {
    if (this.scheduled || this.committing || this.open.events.length === 0) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      if (!this.committing) this.pace.when(this.open.requests, () => this.commitOpen());
    });
  }

  private commitOpen(): void {
    if (!this.committing && this.open.events.length > 0) void this.commit();
  }

  private async commit(): Promise<void> {
    const { term } = this;
    const batch = this.open;
    this.committing = batch;
    this.open = new Batch();
    this.pace.sent(batch.requests);
    try {
      await this.storage.persist(batch.events);
    } catch (fault) {
      if (term === this.term) this.fail(fault);
      return;
    }
    if (term !== this.term) return;
    this.committing = undefined;
    this.published(batch.events);
    batch.settle(true);
    this.pump();
  }

  private fail(fault: unknown): void {
    this.stop();
    this.failed(fault);
  }
}

/**
 * Microseconds since the Unix epoch, or a little more when events come faster than those pass. So the database may lose
 * the end of its log and what is written next still lies behind all that anybody was shown. Sparse, so that nobody can
 * count on the next one being one more.
 */
const positionAfter = (position: number): number => Math.max(position + 16, Date.now() * 1000);

const event = (type: string, data: Buffer): ProposedEvent => ({
  id: newId(),
  type,
  json: true,
  data,
  metadata: NOTHING,
});
