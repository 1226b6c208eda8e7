import { randomUUID } from 'node:crypto';
import { Overloaded, OutcomeUnknown, WrongRevision } from '../../application/faults/errors.js';
import type { Appended, Expected, NewEvent } from '../../application/ports/event-store.js';
import { batchRequest, type BatchAnswer } from './batch-wire.js';
import { openBatchAppend, type DuplexCall } from './calls.js';
import type { Connection } from './connection.js';
import { discoveryFailed, neverSent, unavailable } from './failures.js';

const answerWithinMs = 2_000;
const lookEveryMs = 250;
/** More than this at once, and the store is not keeping up: it is better to say so than to gather more. */
const mostInFlight = 1_000;
const mostBytesInFlight = 16 * 1024 * 1024;

/** The event store refuses these events for good, e.g. because they are too large. */
class AppendRefused extends Error {
  constructor(readonly reason: string) {
    super(`The event store refused to append: ${reason}.`);
  }
}

interface Waiting {
  readonly stream: string;
  readonly bytes: number;
  /** By the monotonic clock, as every time here: a step of the wall clock must not stop the timers. */
  readonly sentAt: number;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (failure: Error) => void;
}

/** A call sends a message only after the one before has left; with several calls, messages that come at once leave together. */
const maxCalls = 8;

/**
 * Appends over a few long-lived calls, those to one stream always over the same. Invariant: every append ends by its own
 * timer: an answer, "never sent" or "outcome unknown".
 */
export class BatchAppends {
  private readonly calls: readonly AppendCall[];

  constructor(connection: Connection) {
    this.calls = Array.from({ length: maxCalls }, () => new AppendCall(connection));
  }

  async append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<Appended> {
    // The ends of ids are as good as random.
    const call = this.calls[stream.charCodeAt(stream.length - 1) % maxCalls];
    if (!call) throw new RangeError('A stream has a name.');
    return call.append(stream, expected, events);
  }

  /** Ends the calls; what is in flight ends as unknown. */
  close(): void {
    for (const call of this.calls) call.close();
  }
}

/** One long-lived call, opened again when it has ended. */
class AppendCall {
  private call: OpenCall | undefined;
  private opening: Promise<OpenCall> | undefined;

  constructor(private readonly connection: Connection) {}

  async append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<Appended> {
    const call = this.call ?? (await (this.opening ??= this.open()));
    return call.append(stream, expected, events);
  }

  close(): void {
    this.call?.cancel();
  }

  private async open(): Promise<OpenCall> {
    try {
      this.call = new OpenCall(await openBatchAppend(this.connection), {
        ended: (call) => {
          if (this.call === call) this.call = undefined;
        },
        stuck: () => this.connection.renew('appends were not answered'),
      });
      return this.call;
    } catch (failure) {
      if (discoveryFailed(failure)) this.connection.renew('discovery failed');
      throw unavailable(failure);
    } finally {
      this.opening = undefined;
    }
  }
}

/** Matches answers by its own numbers, so that neither a late answer nor another client's failure touches an append. */
class OpenCall {
  private readonly waiting = new Map<number, Waiting>();
  private readonly prefix = randomUUID().slice(0, 24);
  private sent = 0;
  private bytesInFlight = 0;
  private heardAt = 0;
  private over = false;
  private look: NodeJS.Timeout | undefined;

  constructor(
    private readonly duplex: DuplexCall<BatchAnswer>,
    private readonly notify: { readonly ended: (call: OpenCall) => void; readonly stuck: () => void },
  ) {
    duplex
      .on('data', (answer) => this.heard(answer))
      .on('error', (failure) => this.end(failure))
      .on('end', () => this.end(undefined));
  }

  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<Appended> {
    if (this.over) return Promise.reject(unavailable(new Error('call ended')));
    const isFull = this.waiting.size >= mostInFlight || this.bytesInFlight >= mostBytesInFlight;
    if (isFull) return Promise.reject(new Overloaded('eventstore'));
    const number = (this.sent += 1);
    const sentAt = performance.now();
    const correlationId = this.prefix + number.toString(16).padStart(12, '0');
    const request = batchRequest(correlationId, stream, expected, events, answerWithinMs);
    const bytes = request.length;
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { stream, bytes, sentAt, resolve, reject });
      this.bytesInFlight += bytes;
      if (!this.look) this.lookLater();
      this.duplex.write(request);
    });
  }

  cancel(): void {
    this.duplex.cancel();
    this.end(undefined);
  }

  private heard({ number, written, failure }: BatchAnswer): void {
    this.heardAt = performance.now();
    const waiting = this.waiting.get(number);
    if (!waiting) return; // Too late: its timer has rejected it already.
    this.remove(number, waiting);
    if (written) waiting.resolve(written);
    else waiting.reject(refusal(waiting.stream, failure));
  }

  private remove(number: number, { bytes }: Waiting): void {
    this.waiting.delete(number);
    this.bytesInFlight -= bytes;
  }

  private lookLater(): void {
    // After a long turn of this process the answers may be in already: they are heard first.
    this.look = setTimeout(() => setImmediate(() => this.expire()), lookEveryMs);
  }

  /** In the order they were sent, so the first that still has time ends the look. */
  private expire(): void {
    this.look = undefined;
    const now = performance.now();
    let deaf = false;
    for (const [number, waiting] of this.waiting) {
      if (now - waiting.sentAt < answerWithinMs) break;
      this.remove(number, waiting);
      deaf ||= this.heardAt < waiting.sentAt;
      waiting.reject(new OutcomeUnknown(waiting.stream));
    }
    if (deaf) {
      this.cancel();
      this.notify.stuck();
    } else if (this.waiting.size > 0) this.lookLater();
  }

  private end(failure: Error | undefined): void {
    if (this.over) return;
    this.over = true;
    clearTimeout(this.look);
    this.notify.ended(this);
    const untouched = this.heardAt === 0 && neverSent(failure);
    for (const { stream, reject } of this.waiting.values()) {
      reject(untouched ? unavailable(failure) : new OutcomeUnknown(stream));
    }
    this.waiting.clear();
  }
}

function refusal(stream: string, failure = 'Unknown'): Error {
  switch (failure) {
    case 'WrongExpectedVersion':
      return new WrongRevision(stream);
    case 'AccessDenied':
      return unavailable(new Error(failure));
    case 'StreamDeleted':
    case 'MaximumAppendSizeExceeded':
    case 'BadRequest':
      return new AppendRefused(failure);
    default:
      // A time limit of the server's own, or nothing that says whether it was written.
      return new OutcomeUnknown(stream);
  }
}
