import { pause, repeatEvery } from '../../../src/application/kernel/concurrency/repeat-every.js';
import { WakeSignal } from '../../../src/application/kernel/concurrency/wake-signal.js';

describe('a wait for a wake-up', () => {
  it('ends for everybody who waits', async () => {
    const signal = new WakeSignal();
    const waits = [signal.wait({}), signal.wait({ ms: 60_000 })];
    signal.wake();
    await expect(Promise.all(waits)).resolves.toEqual([true, true]);
  });

  it('ends with its time limit, and says so', () => expect(new WakeSignal().wait({ ms: 1 })).resolves.toBe(false));

  it('ends when it is stopped, also before it began', async () => {
    const [signal, stop] = [new WakeSignal(), new AbortController()];
    const waiting = signal.wait({ stopped: stop.signal });
    stop.abort();
    await expect(waiting).resolves.toBe(true);
    await expect(signal.wait({ stopped: stop.signal })).resolves.toBe(true);
  });
});

describe('work that is repeated', () => {
  it('goes on until it is stopped', async () => {
    const stop = new AbortController();
    let runs = 0;
    await repeatEvery(0, stop.signal, async () => {
      runs += 1;
      if (runs === 3) stop.abort();
    });
    expect(runs).toBe(3);
  });

  it('pauses no longer than until it is stopped', async () => {
    const stop = new AbortController();
    const pausing = pause(60_000, stop.signal);
    stop.abort();
    await expect(pausing).resolves.toBeUndefined();
  });
});
