import { MemoryEventStore } from '../../src/infrastructure/memory/event-store.js';
import { openEventStore } from '../../src/infrastructure/eventstore/event-store.js';
import { BackendUnavailable, OutcomeUnknown, Overloaded } from '../../src/application/faults/errors.js';
import type { Logger } from '../../src/application/ports/telemetry.js';
import { eventually } from '../support/eventually.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { describeEventLog, follow, idsOf, newEvent, newEvents, newStream } from './event-store-contract.js';

const url = process.env['TEST_EVENTSTORE_URL'] ?? '';
const quiet: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

describeEventLog('memory', () => Promise.resolve(new MemoryEventStore()));

let direct: ReturnType<typeof openEventStore>;
beforeAll(() => {
  direct = openEventStore(url, quiet);
});
afterAll(() => direct.close());
describeEventLog('event store', () => Promise.resolve(direct));

describe('an event log behind a bad line', () => {
  let proxy: TcpProxy;
  let log: ReturnType<typeof openEventStore>;
  beforeEach(async () => {
    const { hostname, port } = new URL(url.replace(/^esdb/, 'http'));
    proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    log = openEventStore(`esdb://127.0.0.1:${proxy.port}?tls=false`, quiet);
  });
  afterEach(async () => {
    await log.close();
    await proxy.close();
  });

  it('says that the outcome is unknown when the answer is lost, and a retry finds it', async () => {
    const stream = newStream();
    await log.append(stream, 'none', newEvents(1));
    const events = newEvents(1);
    proxy.loseNextReply();
    await expect(log.append(stream, 0, events)).rejects.toBeInstanceOf(OutcomeUnknown);
    await expect(log.append(stream, 0, events)).resolves.toMatchObject({ revision: 1 });
    await expect(direct.readStream(stream)).resolves.toHaveLength(2);
  });

  it('says that the outcome is unknown when no answer comes, and works again afterwards', async () => {
    const stream = newStream();
    await log.append(stream, 'none', newEvents(1));
    const events = newEvents(1);
    proxy.blackHole();
    await expect(log.append(stream, 0, events)).rejects.toBeInstanceOf(OutcomeUnknown);
    proxy.pass();
    await eventually(
      () => log.append(stream, 0, events).catch(() => undefined),
      (appended) => appended?.revision === 1,
    );
    await expect(direct.readStream(stream)).resolves.toHaveLength(2);
  });

  it('says that the store is not available when it cannot be reached, and works again once it can', async () => {
    const stream = newStream();
    proxy.refuse();
    await expect(log.append(stream, 'none', newEvents(1))).rejects.toBeInstanceOf(BackendUnavailable);
    await expect(log.readStream(stream)).rejects.toBeInstanceOf(BackendUnavailable);
    await expect(log.endPosition()).rejects.toBeInstanceOf(BackendUnavailable);
    proxy.pass();
    await eventually(
      () => log.append(stream, 'none', newEvents(1)).catch(() => undefined),
      (appended) => appended !== undefined,
    );
    await expect(log.readStream(stream)).resolves.toHaveLength(1);
  });

  it('never gives a part of a stream for the whole', async () => {
    const stream = newStream();
    await direct.append(
      stream,
      'none',
      Array.from({ length: 400 }, () => newEvent('thing', { text: 'x'.repeat(500) })),
    );
    proxy.cutAfter(60_000);
    await expect(log.readStream(stream)).rejects.toBeInstanceOf(BackendUnavailable);
    await eventually(
      () => log.readStream(stream).catch(() => []),
      (events) => events.length === 400,
    );
  });

  it('follows through resets without a gap or a repetition', async () => {
    const { seen, stop } = follow(log, await direct.headPosition());
    const events = newEvents(60);
    for (const [index, event] of events.entries()) {
      await direct.append(newStream(), 'none', [event]);
      if (index % 20 === 10) proxy.reset();
    }
    await eventually(
      () => seen.length,
      (count) => count >= events.length,
    );
    await stop();
    expect(idsOf(seen)).toEqual(idsOf(events));
  });

  it('follows on after the store was away', async () => {
    const { seen, caughtUp, stop } = follow(log, await direct.headPosition());
    await eventually(
      () => caughtUp.length,
      (times) => times > 0,
    );
    proxy.refuse();
    const events = newEvents(50);
    await direct.append(newStream(), 'none', events);
    await expect(log.endPosition()).rejects.toBeInstanceOf(BackendUnavailable);
    proxy.pass();
    await eventually(
      () => seen.length,
      (count) => count >= events.length,
    );
    await stop();
    expect(idsOf(seen)).toEqual(idsOf(events));
  });

  it('follows on after the line fell silent', async () => {
    const { seen, caughtUp, stop } = follow(log, await direct.headPosition());
    await eventually(
      () => caughtUp.length,
      (times) => times > 0,
    );
    proxy.blackHole();
    const events = newEvents(5);
    await direct.append(newStream(), 'none', events);
    await expect(log.append(newStream(), 'none', newEvents(1))).rejects.toBeInstanceOf(OutcomeUnknown);
    proxy.pass();
    await eventually(
      () => idsOf(seen).filter((id) => idsOf(events).includes(id)),
      (found) => found.length >= events.length,
    );
    await stop();
    expect(idsOf(seen).slice(0, events.length)).toEqual(idsOf(events));
  });

  it('keeps its trouble from another log of the same process', async () => {
    const streams = Array.from({ length: 50 }, newStream);
    await log.append(newStream(), 'none', newEvents(1));
    const healthy = streams.map((stream) => direct.append(stream, 'none', newEvents(1)));
    const broken = log.append(newStream(), 'none', newEvents(1));
    proxy.reset();
    await expect(broken).rejects.toThrow();
    await expect(Promise.all(healthy)).resolves.toHaveLength(streams.length);
  });
});

describe('an event log that is asked for more than it keeps up with', () => {
  it('says so at once, and keeps what it had taken', async () => {
    const stream = newStream();
    await direct.append(stream, 'any', newEvents(1));
    const appends = Array.from({ length: 1_001 }, () => direct.append(stream, 'any', newEvents(1)));
    const outcomes = await Promise.allSettled(appends);
    expect(outcomes.at(-1)).toMatchObject({ status: 'rejected', reason: expect.any(Overloaded) as unknown });
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1_000);
    await expect(direct.readStream(stream)).resolves.toHaveLength(1_001);
  });
});

describe('the address of an event log', () => {
  it('may be written in the successor’s way', async () => {
    const log = openEventStore(url.replace(/^esdb/, 'kurrentdb'), quiet);
    await expect(log.endPosition()).resolves.toBeGreaterThanOrEqual(-1n);
    await log.close();
  });
});
