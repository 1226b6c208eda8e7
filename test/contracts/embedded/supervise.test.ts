import type { Kept } from '../../../src/infrastructure/embedded/kept.js';
import type { StartupError } from '../../../src/infrastructure/startup-error.js';
import { supervise } from '../../../src/infrastructure/embedded/supervise.js';

describe('a watched backend', () => {
  it('is launched again when it ends', async () => {
    const first = backend();
    const second = backend();
    const { launches } = watched(first, () => Promise.resolve(second));

    first.end();

    await expect(launches.next()).resolves.toBe(1);
  });

  it('is given up, once, after the last attempt', async () => {
    const first = backend();
    const { lost, log } = watched(first, () => Promise.reject(new Error('No room on the disk.')));

    first.end();

    await expect(lost).resolves.toMatchObject({ message: 'redis ended and could not be started again.' });
    expect(log.filter((line) => line === 'No room on the disk.')).toHaveLength(3);
  });

  it('is given up when it serves but keeps ending', async () => {
    const first = backend();
    const { lost } = watched(first, () => {
      const next = backend();
      next.end();
      return Promise.resolve(next);
    });

    first.end();

    await expect(lost).resolves.toMatchObject({ name: 'StartupError' });
  });

  it('is not launched again when it is stopped', async () => {
    const first = backend();
    const { stop, count } = watched(first, () => Promise.resolve(backend()));

    await stop();

    expect(count()).toBe(0);
  });

  it('is stopped too when its new start comes after the wish to stop', async () => {
    const first = backend();
    const second = backend();
    let arrive: (kept: Kept) => void = () => undefined;
    const { stop, launches } = watched(first, () => new Promise((resolve) => (arrive = resolve)));
    first.end();
    await launches.next();

    const stopped = stop();
    arrive(second);
    await stopped;

    await expect(second.ended).resolves.toBe('stopped');
  });
});

function watched(first: Kept, launch: () => Promise<Kept>) {
  const log: string[] = [];
  const launches = signal();
  let tellLost: (error: StartupError) => void = () => undefined;
  const lost = new Promise<StartupError>((resolve) => (tellLost = resolve));
  const counted = () => {
    launches.raise();
    return launch();
  };
  const needs = { log: (line: string) => void log.push(line), onLost: (error: StartupError) => tellLost(error) };
  const stop = supervise('redis', first, counted, needs, [0, 0, 0]);
  return { stop, log, lost, launches, count: launches.count };
}

/** Counts, and lets a test wait for the next count. */
function signal() {
  let raised = 0;
  let wake: (count: number) => void = () => undefined;
  return {
    count: () => raised,
    raise: () => wake(++raised),
    next: () => (raised > 0 ? Promise.resolve(raised) : new Promise<number>((resolve) => (wake = resolve))),
  };
}

function backend(): Kept & { end: () => void } {
  let tell: (how: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => (tell = resolve));
  const stop = () => Promise.resolve(tell('stopped'));
  return { pid: 1, ended, stop, end: () => tell('signal SIGKILL') };
}
