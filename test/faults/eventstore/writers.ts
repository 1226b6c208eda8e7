import { randomUUID } from 'node:crypto';
import { jsonEvent, type EventStoreDBClient } from '@eventstore/db-client';

/** What a writer was told: which event is stored at which revision. */
export interface Acknowledged {
  readonly stream: string;
  readonly id: string;
  readonly revision: number;
}

const ANSWER_WITHIN = 4000;

/**
 * Writers that each append to a stream of their own, one append after the other, and repeat an append with the same ids
 * at the same revision until it is acknowledged. Whatever they are told is kept.
 */
export class Writers {
  readonly acknowledged: Acknowledged[] = [];
  /** Answers that must never be given, whatever was killed. */
  readonly violations: string[] = [];
  readonly streams: readonly string[];
  retries = 0;
  private writing = true;
  private readonly done: Promise<unknown>;

  constructor(
    private readonly client: EventStoreDBClient,
    count: number,
  ) {
    this.streams = Array.from({ length: count }, (_, writer) => `writer-${writer}`);
    this.done = Promise.all(this.streams.map((stream, writer) => this.write(stream, 1 + (writer % 4))));
  }

  /** Lets each writer finish what it has begun. */
  async stop(): Promise<void> {
    this.writing = false;
    await this.done;
  }

  /** Resolves when this many more events than now are acknowledged. */
  async progress(events: number): Promise<void> {
    const goal = this.acknowledged.length + events;
    while (this.acknowledged.length < goal) await pause(20);
  }

  private async write(stream: string, perAppend: number): Promise<void> {
    let last = -1;
    while (this.writing) {
      const events = Array.from({ length: perAppend }, (_, at) =>
        jsonEvent({ id: randomUUID(), type: 'happened', data: { n: last + 1 + at, text: 'x'.repeat(200) } }),
      );
      const revision = await this.untilAcknowledged(stream, events, last);
      if (revision !== last + perAppend) this.violations.push(`${stream}: at ${last}, answered ${revision}`);
      for (const [at, { id }] of events.entries()) this.acknowledged.push({ stream, id, revision: last + 1 + at });
      last += perAppend;
    }
  }

  private async untilAcknowledged(
    stream: string,
    events: ReturnType<typeof jsonEvent>[],
    last: number,
  ): Promise<number> {
    const expectedRevision = last < 0 ? 'no_stream' : BigInt(last);
    for (;;) {
      try {
        const appended = this.client.appendToStream(stream, events, { expectedRevision, deadline: ANSWER_WITHIN });
        return Number((await within(appended)).nextExpectedRevision);
      } catch (failure) {
        if (String(failure).includes('WrongExpectedVersion')) {
          this.violations.push(`${stream}: ${String(failure)}`);
          this.writing = false;
          return last + events.length;
        }
        this.retries += 1;
        await pause(50);
      }
    }
  }
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The client itself would wait for ever for an append that a broken connection swallowed. */
async function within<Value>(answer: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), 2 * ANSWER_WITHIN);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
