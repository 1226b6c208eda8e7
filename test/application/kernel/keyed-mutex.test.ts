import { KeyedMutex } from '../../../src/application/kernel/concurrency/keyed-mutex.js';

class TooLong extends Error {}
const tooLong = () => new TooLong();

/** Work that ends when the test ends it, and shows whether it began. */
function controlled() {
  const marks = { begun: false, end: (): void => undefined };
  const over = new Promise<void>((resolve) => (marks.end = resolve));
  const work = async (): Promise<string> => {
    marks.begun = true;
    await over;
    return 'done';
  };
  return { marks, work };
}

describe('work of one key', () => {
  it('runs one after the other, whatever became of the one before', async () => {
    const mutex = new KeyedMutex(tooLong);
    const order: string[] = [];
    const first = mutex.runExclusive('a-1', () => {
      order.push('first');
      return Promise.reject(new Error('failed'));
    });
    const second = mutex.runExclusive('a-1', () => Promise.resolve(order.push('second')));
    await expect(first).rejects.toThrow('failed');
    await second;
    expect(order).toEqual(['first', 'second']);
  });

  it('does not wait without end, and who gave up lets nobody pass', async () => {
    const mutex = new KeyedMutex(tooLong, 20);
    const [slow, late] = [controlled(), controlled()];
    const first = mutex.runExclusive('a-1', slow.work);
    await expect(mutex.runExclusive('a-1', late.work)).rejects.toBeInstanceOf(TooLong);
    const third = mutex.runExclusive('a-1', controlled().work);
    await expect(third).rejects.toBeInstanceOf(TooLong);
    expect(late.marks.begun).toBe(false);
    slow.marks.end();
    await expect(first).resolves.toBe('done');
    await expect(mutex.runExclusive('a-1', () => Promise.resolve('next'))).resolves.toBe('next');
    expect(late.marks.begun).toBe(false);
  });

  it('does not wait for work of other keys', async () => {
    const mutex = new KeyedMutex(tooLong);
    const slow = controlled();
    const first = mutex.runExclusive('a-1', slow.work);
    await expect(mutex.runExclusive('a-2', () => Promise.resolve('other'))).resolves.toBe('other');
    slow.marks.end();
    await first;
  });
});
