import type { Wish } from './decide.js';
import { weightOf } from './events.js';
import type { Outcome } from './expectation.js';
import { MAX_PENDING_BYTES } from './limits.js';
import type { Request } from './writer.js';

const SWEEP_EVERY = 50;

/** A request on its way through the writer. It is answered once: by the writer, or by the clock. */
class PendingRequest implements Request {
  over = false;
  readonly kind;
  readonly stream;
  readonly expected;
  readonly events;
  readonly bytes: number;

  constructor(
    wish: Wish,
    readonly deadline: number,
    private readonly done: (request: PendingRequest, outcome: Outcome) => void,
  ) {
    this.kind = wish.kind;
    this.stream = wish.stream;
    this.expected = wish.expected;
    this.events = wish.events;
    this.bytes = 256 + wish.events.reduce((sum, event) => sum + weightOf(event), 0);
  }

  answer(outcome: Outcome): void {
    if (this.over) return;
    this.over = true;
    this.done(this, outcome);
  }
}

/** Everything asked and not yet answered: bounded in time by deadlines, in memory by holding up those who ask. */
export class PendingRequests {
  private readonly requests = new Set<PendingRequest>();
  private readonly waiting: (() => void)[] = [];
  private bytes = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @param deadline Milliseconds since the Unix epoch. */
  add(wish: Wish, deadline: number, answer: (outcome: Outcome) => void): Request {
    const request = new PendingRequest(wish, deadline, (done, outcome) => {
      this.remove(done);
      answer(outcome);
    });
    this.requests.add(request);
    this.bytes += request.bytes;
    this.timer ??= setInterval(() => this.sweep(), SWEEP_EVERY);
    return request;
  }

  get full(): boolean {
    return this.bytes > MAX_PENDING_BYTES;
  }

  /** Calls back when there is room again. */
  whenRoom(resume: () => void): void {
    this.waiting.push(resume);
  }

  answerAll(outcome: Outcome): void {
    for (const request of this.requests) request.answer(outcome);
  }

  private remove(request: PendingRequest): void {
    this.requests.delete(request);
    this.bytes -= request.bytes;
    if (!this.full) for (const resume of this.waiting.splice(0)) resume();
  }

  private sweep(): void {
    const now = Date.now();
    for (const request of this.requests) if (request.deadline <= now) request.answer({ kind: 'unknown' });
    if (this.requests.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
