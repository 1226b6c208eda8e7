import type { Share } from '../engine/arriving.js';
import type { Engine } from '../engine/engine.js';
import { sizeOf, type ProposedEvent } from '../engine/events.js';
import type { Outcome } from '../engine/expectation.js';
import { MAX_APPEND_BYTES, MAX_MESSAGE_BYTES } from '../engine/limits.js';
import type { Call } from '../grpc/call.js';
import { frame } from '../grpc/frames.js';
import { CallError, Status } from '../grpc/status.js';
import { batchAnswer, readBatchChunk, type BatchChunk, type BatchOptions } from '../protocol/batch-append.js';
import { refusalOf } from './admission.js';
import { tooMuchArriving, translated } from './errors.js';
import { slowDown } from './slow-down.js';

/** An append of which not all chunks have arrived. */
interface Draft {
  readonly options: BatchOptions;
  readonly share: Share;
  events: ProposedEvent[];
  bytes: number;
}

const MAX_DRAFTS = 1024;

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
  private unanswered = 0;
  private ended = false;

  constructor(
    private readonly engine: Engine,
    private readonly call: Call,
  ) {
    call.onClose(() => {
      for (const { share } of this.drafts.values()) share.giveBack();
    });
  }

  take(chunk: BatchChunk): void {
    const { options, events, bytes } = this.draftOf(chunk);
    if (!chunk.last) return;
    const wish = { kind: 'append', stream: options.stream, expected: options.expected, events } as const;
    const refusal: Outcome | undefined = bytes > MAX_APPEND_BYTES ? { kind: 'too_large' } : refusalOf(wish);
    // A copy: the correlation id is a view of a buffer that should not be kept for it.
    const correlation = Buffer.from(chunk.correlation);
    this.unanswered += 1;
    const answer = (outcome: Outcome): void => this.answer(batchAnswer(correlation, options, outcome));
    if (refusal) answer(refusal);
    else this.engine.submit(wish, options.deadline, answer);
    slowDown(this.engine, this.call);
  }

  end(): void {
    this.ended = true;
    if (this.unanswered === 0) this.call.finish();
  }

  /** What has arrived of an append with this chunk. */
  private draftOf(chunk: BatchChunk): Omit<Draft, 'share'> {
    if (chunk.last && chunk.options) return { options: chunk.options, events: chunk.events, bytes: 0 };
    const key = chunk.correlation.toString('latin1');
    const draft = this.drafts.get(key) ?? this.newDraft(key, chunk);
    draft.bytes += chunk.events.reduce((sum, event) => sum + sizeOf(event), 0);
    if (draft.bytes > MAX_APPEND_BYTES) {
      // What is too large is refused in the end; until then nothing of it is kept.
      draft.events = [];
      draft.share.giveBack();
    } else {
      for (const event of chunk.events) draft.events.push(event);
      if (!draft.share.add(chunk.events)) throw tooMuchArriving();
    }
    if (!chunk.last) return draft;
    draft.share.giveBack();
    this.drafts.delete(key);
    return draft;
  }

  private newDraft(key: string, { options }: BatchChunk): Draft {
    if (!options) throw new CallError(Status.invalidArgument, 'The first chunk of an append has no options.');
    if (this.drafts.size >= MAX_DRAFTS) throw tooMuchArriving();
    const draft = { options, share: this.engine.arriving.share(), events: [], bytes: 0 };
    this.drafts.set(key, draft);
    return draft;
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
      void this.call.room().then(() => this.call.resume());
    }
    if (this.ended && this.unanswered === 0) this.call.finish();
  }
}
