import { EventStoreDBClient } from '@eventstore/db-client';
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../application/ports/telemetry.js';
import { StartupError } from '../startup-error.js';

type CallArguments = Required<Parameters<StreamsClient['batchAppend']>>;

/** Members that the pinned client offers its own commands (docs/decisions/0004-own-event-store-calls.md). */
interface ClientInternals {
  readonly GRPCStreamCreator: <Call>(
    stub: typeof StreamsClient,
    name: string,
    make: (client: StreamsClient) => Call,
  ) => () => Promise<Call>;
  readonly callArguments: (base: object, options: { deadline: number }) => CallArguments;
  readonly getChannel: () => Promise<{ close(): void }>;
}

const renewAtMostEveryMs = 1_000;
const channelClosedWithinMs = 500;

/** The one client of an event store; it is replaced when it is stuck. */
export class Connection {
  private readonly connectionString: string;
  private current: EventStoreDBClient | undefined;
  private renewedAt = -Infinity;
  private renewing: Promise<void> | undefined;
  private closed = false;

  constructor(
    url: string,
    private readonly log: Logger,
  ) {
    this.connectionString = connectionString(url);
    try {
      this.current = EventStoreDBClient.connectionString(this.connectionString);
    } catch (failure) {
      throw new StartupError(`EVENTSTORE_URL cannot be used: ${reasonOf(failure)}`);
    }
  }

  /** The client to use for one call; ask again for the next. */
  async client(): Promise<EventStoreDBClient> {
    await this.renewing;
    this.current ??= EventStoreDBClient.connectionString(this.connectionString);
    return this.current;
  }

  /** Ends every call of the client and starts afresh with a new one: its channel is stuck or its discovery failed. */
  renew(why: string): void {
    const now = performance.now();
    if (this.closed || this.renewing || now - this.renewedAt < renewAtMostEveryMs) return;
    this.renewedAt = now;
    this.log.warn({ why }, 'event store connection renewed');
    const stuck = this.current;
    this.current = undefined;
    this.renewing = (stuck ? end(stuck) : Promise.resolve()).finally(() => (this.renewing = undefined));
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.renewing;
    const last = this.current;
    this.current = undefined;
    if (last) await end(last);
  }
}

export const internalsOf = (client: EventStoreDBClient): ClientInternals => client as unknown as ClientInternals; // These members are declared protected; the version is pinned.

/** Calls first, then the channel: its connection is shared by target, and lives until its last user lets go. */
async function end(client: EventStoreDBClient): Promise<void> {
  await client.dispose();
  const closed = internalsOf(client)
    .getChannel()
    .then(
      (channel) => channel.close(),
      () => undefined, // Nothing could be reached, so there is nothing to close.
    );
  // Where no channel was ever made, asking for it begins a discovery; nobody needs to wait for that.
  await Promise.race([closed, delay(channelClosedWithinMs, undefined, { ref: false })]);
}

/** The parser shows what it stumbled over, which may be a part of a password: only what it expected there is passed on. */
const reasonOf = (failure: unknown): string => {
  const message = failure instanceof Error ? failure.message : '';
  return /^Unexpected .*, (expected .*)$/s.exec(message)?.[1] ?? message.replaceAll(/"[^"]*"/g, '…');
};

/** Takes the successor's schemes too, and notices a dead peer within 13 s instead of 20. */
function connectionString(url: string): string {
  const ours = url.replace(/^kurrentdb(\+discover)?:/, 'esdb$1:');
  if (/[?&]keepAliveTimeout=/i.test(ours)) return ours;
  return `${ours}${ours.includes('?') ? '&' : '?'}keepAliveTimeout=3000`;
}
