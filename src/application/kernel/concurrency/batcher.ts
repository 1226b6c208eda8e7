import { BatchPacing } from './batch-pacing.js';

/** How a batcher forms its batches. */
export interface BatchOptions<Item, Answer> {
  /** The largest batch; an item that is larger alone goes alone. */
  readonly max: number;
  /**
   * Answers in the order of the items; an answer may be a promise, one item's own outcome. Fails when: it rejects → every
   * item of the batch does.
   */
  readonly run: (items: readonly Item[]) => Promise<readonly (Answer | Promise<Answer>)[]>;
  /** How much of `max` an item takes; 1 unless given. */
  readonly sizeOf?: (item: Item) => number;
  /** True: a batch waits a moment for as many items as the one before had. */
  readonly paced?: boolean;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
  readonly reject: (fault: unknown) => void;
}

/**
 * Runs in one batch what is asked for one by one: the items of one moment, or those that arrive while a batch is in
 * flight. Invariant: one batch is in flight at a time.
 */
export class Batcher<Item, Answer> {
  private pending: Waiting<Item, Answer>[] = [];
  private readonly pacing: BatchPacing | undefined;
  private isScheduled = false;
  private isInFlight = false;

  constructor(private readonly options: BatchOptions<Item, Answer>) {
    this.pacing = options.paced ? new BatchPacing() : undefined;
  }

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.pending.push({ item, resolve, reject });
      this.schedule();
    });
  }

  /** True when nothing waits and nothing is in flight. */
  get isIdle(): boolean {
    return !this.isInFlight && this.pending.length === 0;
  }

  /** Waits for the end of the moment, so that what is asked in it goes along. */
  private schedule(): void {
    if (this.isScheduled || this.isInFlight) return;
    this.isScheduled = true;
    queueMicrotask(() => {
      this.isScheduled = false;
      if (this.isIdle || this.isInFlight) return;
      if (this.pacing) this.pacing.when(this.pending.length, () => void this.send());
      else void this.send();
    });
  }

  private async send(): Promise<void> {
    if (this.isInFlight || this.pending.length === 0) return;
    const batch = this.take();
    this.isInFlight = true;
    this.pacing?.sent(batch.length);
    try {
      const answers = await this.options.run(batch.map(({ item }) => item));
      if (answers.length !== batch.length) throw new Error('A batch needs one answer for each item.');
      // As many as there are in the batch, so each index has one.
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer | Promise<Answer>);
    } catch (fault) {
      for (const { reject } of batch) reject(fault);
    }
    this.isInFlight = false;
    this.schedule();
  }

  private take(): readonly Waiting<Item, Answer>[] {
    const { max, sizeOf = () => 1 } = this.options;
    let size = 0;
    const count = this.pending.findIndex(({ item }) => (size += sizeOf(item)) > max);
    return this.pending.splice(0, count < 0 ? this.pending.length : Math.max(1, count));
  }
}
