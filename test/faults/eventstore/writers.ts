import { randomUUID } from 'node:crypto';
import {
  jsonEvent,
  WrongExpectedVersionError,
  type AppendResult,
  type EventStoreDBClient,
} from '@eventstore/db-client';

/** What a writer was answered: which event is stored at which revision. */
export interface Acknowledged {
  readonly stream: string;
  readonly id: string;
  readonly revision: number;
}

/** An append as it was asked for: again and again in the same words, until it is acknowledged. */
export interface Append {
  readonly stream: string;
  readonly expectedRevision: 'no_stream' | bigint;
  readonly events: readonly { readonly id: string }[];
  readonly again: () => Promise<AppendResult>;
}

const ANSWER_WITHIN = 4000;

/**
 * Writers that each append to a stream of their own, one append after the other, and repeat an append with the same ids
 * at the same revision until it is acknowledged. Every answer is kept.
 */
export class Writers {
  readonly acknowledged: Acknowledged[] = [];
  /** Everything ever asked for, acknowledged or not. */
  readonly appends: Append[] = [];
  /** Answers that must never be given, whatever was killed. */
  readonly violations: string[] = [];
  readonly streams: readonly string[];
  retries = 0;
  private writing = true;
  private patient = true;
  private readonly done: Promise<unknown>;

  constructor(
    private readonly client: EventStoreDBClient,
    count: number,
    name = 'writer',
  ) {
    this.streams = Array.from({ length: count }, (_, writer) => `${name}-${writer}`);
    this.done = Promise.all(this.streams.map((stream, writer) => this.write(stream, 1 + (writer % 4))));
  }

  /** Lets each writer finish what it has begun. */
  async stop(): Promise<void> {
    this.writing = false;
    await this.done;
  }

  /** Lets each writer give up what it has begun, once that fails. */
  async abandon(): Promise<void> {
    this.patient = false;
    await this.stop();
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
      const expectedRevision = last < 0 ? 'no_stream' : BigInt(last);
      const again = () => this.client.appendToStream(stream, events, { expectedRevision, deadline: ANSWER_WITHIN });
      this.appends.push({ stream, expectedRevision, events, again });
      const revision = await this.untilAcknowledged(stream, again);
      if (revision === undefined) return;
      if (revision !== last + perAppend) this.violations.push(`${stream}: at ${last}, answered ${revision}`);
      for (const [at, { id }] of events.entries()) this.acknowledged.push({ stream, id, revision: last + 1 + at });
      last += perAppend;
    }
  }

  /** The revision that was answered, or undefined when this writer gave up. */
  private async untilAcknowledged(stream: string, again: () => Promise<AppendResult>): Promise<number | undefined> {
    for (;;) {
      try {
        return Number((await within(again())).nextExpectedRevision);
      } catch (failure) {
        if (failure instanceof WrongExpectedVersionError) {
          this.violations.push(`${stream}: the end is at ${String(failure.actualVersion)}`);
          this.writing = false;
          return undefined;
        }
        if (!this.patient) return undefined;
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
