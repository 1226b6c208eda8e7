import { randomUUID } from 'node:crypto';
import { FactRecorder } from '../../../src/application/event-sourcing/fact-recorder.js';
import { BackendUnavailable, WrongRevision } from '../../../src/application/faults/errors.js';
import type { NewEvent } from '../../../src/application/ports/event-store.js';
import { MemoryEventStore } from '../../../src/infrastructure/memory/event-store.js';

const event = (): NewEvent => ({ id: randomUUID(), type: 'thing.happened', data: {}, metadata: { ownerId: 'user_1' } });

describe('appends to one stream that are begun at once', () => {
  it('are all stored, in few appends', async () => {
    const eventStore = new MemoryEventStore();
    const appends = jest.spyOn(eventStore, 'append');
    const recorder = new FactRecorder(eventStore);
    const events = Array.from({ length: 600 }, event);
    const positions = await Promise.all(events.map((one) => recorder.append('ledger-1', [one])));
    const stored = await eventStore.readStream('ledger-1');
    expect(stored.map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    expect(appends.mock.calls.map(([, , batch]) => batch.length)).toEqual([256, 256, 88]);
    stored.forEach(({ position }, n) => expect((positions[n] ?? 0n) >= position).toBe(true));
  });

  it('do not wait for those to another stream', async () => {
    const eventStore = new MemoryEventStore();
    const store = eventStore.append.bind(eventStore);
    jest
      .spyOn(eventStore, 'append')
      .mockImplementation((stream, ...rest) =>
        stream === 'stuck-1' ? new Promise(() => undefined) : store(stream, ...rest),
      );
    const recorder = new FactRecorder(eventStore);
    void recorder.append('stuck-1', [event()]);
    await expect(recorder.append('free-1', [event()])).resolves.toBeGreaterThan(0n);
  });

  it('fail together when the store cannot be reached, and the next ones are tried again', async () => {
    const eventStore = new MemoryEventStore();
    jest.spyOn(eventStore, 'append').mockRejectedValueOnce(new BackendUnavailable('eventstore'));
    const recorder = new FactRecorder(eventStore);
    await expect(recorder.append('ledger-1', [event()])).rejects.toThrow(BackendUnavailable);
    await expect(recorder.append('ledger-1', [event()])).resolves.toBeGreaterThan(0n);
  });

  it('go one by one when the store does not recognise a retry among them', async () => {
    const eventStore = new MemoryEventStore();
    const store = eventStore.append.bind(eventStore);
    jest
      .spyOn(eventStore, 'append')
      .mockImplementation((stream, expected, events) =>
        events.length > 1 ? Promise.reject(new WrongRevision(stream)) : store(stream, expected, events),
      );
    const recorder = new FactRecorder(eventStore);
    await Promise.all(Array.from({ length: 10 }, () => recorder.append('ledger-1', [event()])));
    expect(await eventStore.readStream('ledger-1')).toHaveLength(10);
  });
});
