import { DeadlineExceeded, within } from '../../../src/application/kernel/concurrency/deadline.js';

const endless = () => new Promise<never>(() => undefined);

describe('work within a deadline', () => {
  it('has its own outcome when it is in time', async () => {
    const signal = new AbortController().signal;
    await expect(within(1_000, Promise.resolve('done'))).resolves.toBe('done');
    await expect(within(signal, Promise.resolve('done'))).resolves.toBe('done');
    await expect(within(1_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  });

  it('is given up when the time is over', () => expect(within(1, endless())).rejects.toBeInstanceOf(DeadlineExceeded));

  it('is given up with the reason of the signal, also when that was aborted before', async () => {
    const stop = new AbortController();
    const waiting = within(stop.signal, endless());
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    await expect(within(stop.signal, endless())).rejects.toThrow('stopped');
  });
});
