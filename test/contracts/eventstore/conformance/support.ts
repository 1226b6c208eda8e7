import { randomUUID } from 'node:crypto';
import {
  jsonEvent,
  type AppendToStreamOptions,
  type EventStoreDBClient,
  type JSONEventType,
  type ResolvedEvent,
} from '@eventstore/db-client';

/** Gives the client of the server under test, once the suite has started. */
export type Given = () => EventStoreDBClient;

export type Happened = JSONEventType<'happened', { n: number }>;

/** A stream name that no other test uses. */
export const freshStream = (category = 'order'): string => `${category}-${randomUUID()}`;

/** Events with the numbers given, and ids of their own. */
export const happened = (...numbers: number[]) =>
  numbers.map((n) => jsonEvent<Happened>({ type: 'happened', data: { n } }));

export const append = (
  client: EventStoreDBClient,
  stream: string,
  numbers: number[],
  options: AppendToStreamOptions = {},
) => client.appendToStream(stream, happened(...numbers), options);

/** What a stream shows, oldest first: revision and number. */
export async function contentsOf(client: EventStoreDBClient, stream: string): Promise<[bigint, number][]> {
  return (await collect(client.readStream<Happened>(stream))).map(({ event }) => [
    event?.revision ?? -1n,
    event?.data.n ?? -1,
  ]);
}

export async function collect<Event>(reading: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of reading) events.push(event);
  return events;
}

/** The error that a promise or a reading ends with. */
export async function failureOf(outcome: Promise<unknown> | AsyncIterable<unknown>): Promise<unknown> {
  try {
    await (Symbol.asyncIterator in outcome ? collect(outcome) : outcome);
  } catch (failure) {
    return failure;
  }
  throw new Error('it did not fail');
}

type Numbered = ResolvedEvent<Happened>;

/** A subscription to one stream or to all: they differ in the types of what they emit. */
interface Subscribed {
  on(event: string, listener: (...heard: never[]) => void): unknown;
  unsubscribe(): Promise<void>;
}

/** Listens to a subscription and lets a test wait for what it has seen. */
export class Listener {
  readonly events: Numbered[] = [];
  readonly log: string[] = [];
  error: Error | undefined;
  private changed: () => void = () => undefined;

  constructor(private readonly subscription: Subscribed) {
    const note = (entry: string): void => {
      this.log.push(entry);
      this.changed();
    };
    subscription.on('confirmation', () => note('confirmation'));
    subscription.on('caughtUp', () => note('caughtUp'));
    subscription.on('data', (event: Numbered) => {
      this.events.push(event);
      note('event');
    });
    subscription.on('error', (error: Error) => {
      this.error = error;
      note('error');
    });
  }

  /** Resolves when the condition holds, which is looked at after each thing heard. */
  async until(condition: (listener: this) => boolean): Promise<void> {
    while (!condition(this)) await new Promise<void>((resolve) => (this.changed = resolve));
  }

  untilCaughtUp(): Promise<void> {
    return this.until(({ log }) => log.includes('caughtUp'));
  }

  /** Numbers of the events of one stream, in the order of arrival. */
  numbers(stream: string): number[] {
    return this.events.flatMap(({ event }) => (event?.streamId === stream ? [event.data.n] : []));
  }

  stop(): Promise<void> {
    return this.subscription.unsubscribe();
  }
}
