import type { Engine } from '../engine/engine.js';
import { sizeOf, type ProposedEvent } from '../engine/events.js';
import type { Outcome } from '../engine/expectation.js';
import { MAX_APPEND_BYTES, MAX_MESSAGE_BYTES } from '../engine/limits.js';
import type { Call } from '../grpc/call.js';
import { frame } from '../grpc/frames.js';
import { CallError, Status } from '../grpc/status.js';
import { batchAnswer, readBatchChunk, type BatchChunk, type BatchOptions } from '../protocol/batch-append.js';
import { refusalOf } from './admission.js';
import { translated } from './errors.js';

/** An append of which not all chunks have arrived. */
interface Draft {
  readonly options: BatchOptions;
  events: ProposedEvent[];
  bytes: number;
}

const MAX_DRAFTS = 1024;
const MAX_DRAFT_BYTES = 32 * MAX_APPEND_BYTES;

/** The long-lived call over which a client sends all its appends, each answered once, by its correlation id. */
export function batchAppend(engine: Engine, call: Call): void {
  const connection = new BatchConnection(engine, call);
  call.receive(
    {
      onMessage: (message) => {
        try {
          connection.take(readBatchChunk(message, Date.now()));
        } catch (thrown) {
          throw translated(thrown);
        }
      },
      onEnd: () => connection.end(),
    },
    MAX_MESSAGE_BYTES,
  );
}

class BatchConnection {
  private readonly drafts = new Map<string, Draft>();
  private answers: Buffer[] = [];
  private draftBytes = 0;
  private unanswered = 0;
  private ended = false;

  constructor(
    private readonly engine: Engine,
    private readonly call: Call,
  ) {}

  take(chunk: BatchChunk): void {
    const draft = this.draftOf(chunk);
    if (!chunk.last) return;
    const { options, events, bytes } = draft;
    const wish = { kind: 'append', stream: options.stream, expected: options.expected, events } as const;
    const refusal: Outcome | undefined = bytes > MAX_APPEND_BYTES ? { kind: 'too_large' } : refusalOf(wish);
    // A copy: the correlation id is a view of a buffer that should not be kept for it.
    const correlation = Buffer.from(chunk.correlation);
    this.unanswered += 1;
    const answer = (outcome: Outcome): void => this.answer(batchAnswer(correlation, options, outcome));
    if (refusal) answer(refusal);
    else this.engine.submit(wish, options.deadline, answer);
    this.slowDown();
  }

  end(): void {
    this.ended = true;
    if (this.unanswered === 0) this.call.finish();
  }

  private draftOf(chunk: BatchChunk): Draft {
    if (chunk.last && chunk.options) return { options: chunk.options, events: chunk.events, bytes: 0 };
    const key = chunk.correlation.toString('latin1');
    const draft = this.drafts.get(key) ?? this.newDraft(chunk);
    const bytes = chunk.events.reduce((sum, event) => sum + sizeOf(event), 0);
    draft.bytes += bytes;
    this.draftBytes += bytes;
    // What is too large is refused in the end; until then nothing of it is kept.
    if (draft.bytes > MAX_APPEND_BYTES) draft.events = [];
    else draft.events.push(...chunk.events);
    if (chunk.last) this.draftBytes -= draft.bytes;
    if (chunk.last) this.drafts.delete(key);
    else this.drafts.set(key, draft);
    return draft;
  }

  private newDraft({ options }: BatchChunk): Draft {
    if (!options) throw new CallError(Status.invalidArgument, 'The first chunk of an append has no options.');
    if (this.drafts.size >= MAX_DRAFTS || this.draftBytes > MAX_DRAFT_BYTES)
      throw new CallError(Status.resourceExhausted, 'Too many unfinished appends.');
    return { options, events: [], bytes: 0 };
  }

  /** Answers that become ready together leave together. */
  private answer(message: Buffer): void {
    this.unanswered -= 1;
    this.answers.push(frame(message));
    if (this.answers.length === 1) queueMicrotask(() => this.send());
  }

  private send(): void {
    const { answers } = this;
    this.answers = [];
    const flowing = this.call.write(answers.length === 1 && answers[0] ? answers[0] : Buffer.concat(answers));
    if (!flowing) {
      this.call.pause(); // whoever does not read answers is asked no further questions
      void this.call.drained().then(() => this.call.resume());
    }
    if (this.ended && this.unanswered === 0) this.call.finish();
  }

  private slowDown(): void {
    if (!this.engine.pending.full) return;
    this.call.pause();
    this.engine.pending.whenRoom(() => this.call.resume());
  }
}
