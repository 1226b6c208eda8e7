import { randomUUID } from 'node:crypto';
import { FactRecorder } from '../../../src/application/event-sourcing/fact-recorder.js';
import { BackendUnavailable, WrongRevision } from '../../../src/application/faults/errors.js';
import type { NewEvent } from '../../../src/application/ports/event-store.js';
import { MemoryEventStore } from '../../../src/infrastructure/memory/event-store.js';

const event = (): NewEvent => ({ id: randomUUID(), type: 'thing.happened', data: {}, metadata: { ownerId: 'user_1' } });

describe('appends to one stream that are begun at once', () => {
  it('are all stored, the later ones gathered into few appends', async () => {
    const log = new MemoryEventStore();
    const appends = jest.spyOn(log, 'append');
    const gathered = new FactRecorder(log);
    const events = Array.from({ length: 600 }, event);
    const positions = await Promise.all(events.map((one) => gathered.append('ledger-1', [one])));
    const stored = await log.readStream('ledger-1');
    expect(stored.map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    expect(appends.mock.calls.map(([, , batch]) => batch.length)).toEqual([1, 256, 256, 87]);
    stored.forEach(({ position }, n) => expect((positions[n] ?? 0n) >= position).toBe(true));
  });

  it('do not wait for those to another stream', async () => {
    const log = new MemoryEventStore();
    const store = log.append.bind(log);
    jest
      .spyOn(log, 'append')
      .mockImplementation((stream, ...rest) =>
        stream === 'stuck-1' ? new Promise(() => undefined) : store(stream, ...rest),
      );
    const gathered = new FactRecorder(log);
    void gathered.append('stuck-1', [event()]);
    await expect(gathered.append('free-1', [event()])).resolves.toBeGreaterThan(0n);
  });

  it('fail together when the store cannot be reached, and the next ones are tried again', async () => {
    const log = new MemoryEventStore();
    jest.spyOn(log, 'append').mockRejectedValueOnce(new BackendUnavailable('eventstore'));
    const gathered = new FactRecorder(log);
    await expect(gathered.append('ledger-1', [event()])).rejects.toThrow(BackendUnavailable);
    await expect(gathered.append('ledger-1', [event()])).resolves.toBeGreaterThan(0n);
  });

  it('go one by one when the store cannot tell a retry among them from the rest', async () => {
    const log = new MemoryEventStore();
    const store = log.append.bind(log);
    jest
      .spyOn(log, 'append')
      .mockImplementation((stream, expected, events) =>
        events.length > 1 ? Promise.reject(new WrongRevision(stream)) : store(stream, expected, events),
      );
    const gathered = new FactRecorder(log);
    await Promise.all(Array.from({ length: 10 }, () => gathered.append('ledger-1', [event()])));
    expect(await log.readStream('ledger-1')).toHaveLength(10);
  });
});
