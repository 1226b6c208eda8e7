import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../store/storage.js';
import { Arriving } from './arriving.js';
import type { Wish } from './decide.js';
import { METADATA_TYPE, metastreamOf, type StoredEvent } from './events.js';
import type { Outcome } from './expectation.js';
import { StreamReader } from './stream-reader.js';
import { newId } from './new-id.js';
import { PendingRequests } from './pending.js';
import { RecentEvents } from './recent-events.js';
import { scavenge, type Scavenged } from './scavenge.js';
import { Watchers } from './watchers.js';
import { Writer } from './writer.js';

export type Log = (line: string, fields?: object) => void;

const DEFAULT_WAIT = 10_000;
const RETRY_EVERY = 100;
const QUIET = 5000;

/**
 * The event store without its protocol: takes wishes, keeps events, tells whoever watches. It writes while it holds
 * the store's seat; when the seat is lost it stops, and goes on once it has it again.
 */
export class Engine {
  readonly recent = new RecentEvents();
  readonly watchers = new Watchers();
  readonly arriving = new Arriving();
  readonly pending = new PendingRequests();
  readonly reader: StreamReader;
  /** No durable event lies above this position. */
  watermark = 0;
  /** Changes whenever this process becomes the writer, and whenever it ceases to be. */
  turn = 0;
  private readonly writer: Writer;
  private readonly stopping = new AbortController();
  private writing = false;
  private wrote = false;
  /** True once the database has shown that it can be used: what fails from then on is tried again. */
  private reached = false;
  private readonly noted = new Map<string, number>();
  private scavenging: Promise<Scavenged> | undefined;
  private interrupt: (fault: unknown) => void = () => undefined;
  private done: Promise<void> = Promise.resolve();

  constructor(
    readonly store: Store,
    private readonly log: Log,
  ) {
    this.writer = new Writer(
      store,
      (events) => this.publish(events),
      (fault) => this.interrupt(fault),
    );
    this.reader = new StreamReader(store, (stream) => this.writer.storedHead(stream));
  }

  /** Resolves once this process is the writer; that is at once, unless another process is. */
  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.done = this.write(resolve).catch((fault: unknown) => {
        if (this.isStopped()) return;
        reject(fault instanceof Error ? fault : new Error('the event store could not start', { cause: fault }));
      });
    });
    await this.seed();
  }

  /** False while another process writes or storage cannot be reached. */
  get serving(): boolean {
    return this.writing;
  }

  /**
   * Answers exactly once, in time: with 'unknown' when the deadline (milliseconds since the epoch) passes first.
   * What one caller submits is decided in that order.
   */
  submit(wish: Wish, deadline: number | undefined, answer: (outcome: Outcome) => void): void {
    this.writer.submit(this.pending.add(wish, deadline ?? Date.now() + DEFAULT_WAIT, answer));
  }

  /** Logs a fault that will be met again and again, but not each time. */
  note(line: string, fault: unknown): void {
    const now = Date.now();
    if (now - (this.noted.get(line) ?? 0) < QUIET) return;
    this.noted.set(line, now);
    this.log(line, { reason: reasonOf(fault) });
  }

  /** Removes what cannot be read any more. One run at a time; a second call joins the first. */
  scavenge(): Promise<Scavenged> {
    this.scavenging ??= scavenge(this.store, this.reader, () => this.writing).finally(() => {
      this.scavenging = undefined;
    });
    return this.scavenging;
  }

  /** Resolves when what was asked by now is answered, but for what waits for storage. */
  drain(): Promise<void> {
    return this.writer.drain();
  }

  /** Finishes what is under way and gives the seat to others. */
  async stop(): Promise<void> {
    await this.drain();
    this.stopping.abort();
    this.interrupt(new Error('the event store is stopping'));
    await this.done;
    this.pending.answerAll({ kind: 'unknown' });
    this.watchers.notifyEveryone();
    await this.store.close();
  }

  /** Holds the seat, again and again, until this engine is stopped. */
  private async write(started: () => void): Promise<void> {
    while (!this.isStopped()) {
      try {
        await this.term(() => {
          if (this.wrote) this.log('event store is writing again', { position: this.watermark });
          this.wrote = true;
          this.reached = true;
          started();
        });
      } catch (fault) {
        if (!this.reached) throw fault;
        if (!this.isStopped()) this.tell(fault);
      } finally {
        await this.leave();
      }
      await pause(RETRY_EVERY, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    }
  }

  private tell(fault: unknown): void {
    if (this.writing) this.log('event store stopped writing', { reason: reasonOf(fault) });
    else this.note('event store waits for its database', fault);
  }

  private isStopped(): boolean {
    return this.stopping.signal.aborted;
  }

  private async term(started: () => void): Promise<void> {
    const interrupted = new Promise<never>((_, reject) => {
      this.interrupt = reject;
    });
    interrupted.catch(() => undefined); // it may be lost before anybody waits for it
    const seat = await this.store.claim(this.stopping.signal, () => this.standBy());
    this.watermark = await this.writer.start();
    this.recent.reset(this.watermark);
    this.writing = true;
    this.turn += 1;
    this.watchers.notifyEveryone();
    started();
    throw await Promise.race([seat.lost, interrupted]);
  }

  private standBy(): void {
    this.reached = true;
    this.log('another event store writes to this database; standing by');
  }

  private async leave(): Promise<void> {
    if (this.writing) this.turn += 1;
    this.writing = false;
    this.writer.stop();
    await this.store.release().catch(() => undefined);
  }

  private publish(events: readonly StoredEvent[]): void {
    this.recent.push(events);
    this.watermark = events.at(-1)?.position ?? this.watermark;
    this.watchers.notify(events);
  }

  /** A store begins with one event of its own, as clients expect of the real server. One that has it is left alone. */
  private async seed(): Promise<void> {
    const data = Buffer.from('{"$maxAge":2592000}');
    const event = { id: newId(), type: METADATA_TYPE, json: true, data, metadata: Buffer.alloc(0) };
    const stream = metastreamOf('$scavenges');
    await new Promise<Outcome>((resolve) =>
      this.submit({ kind: 'append', stream, expected: 'no_stream', events: [event] }, undefined, resolve),
    );
  }
}

const reasonOf = (fault: unknown): string => (fault instanceof Error ? fault.message : 'unknown');
