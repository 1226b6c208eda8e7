import { Overloaded } from '../../../src/application/faults/errors.js';
import { KeyedMutex } from '../../../src/application/event-sourcing/aggregates.js';

/** Work that ends when it is told to, and says when it began. */
function held() {
  const marks = { begun: false, end: (): void => undefined };
  const over = new Promise<void>((resolve) => (marks.end = resolve));
  const work = async (): Promise<string> => {
    marks.begun = true;
    await over;
    return 'done';
  };
  return { marks, work };
}

describe('the turns of commands on one stream', () => {
  it('come one after the other, whatever became of the one before', async () => {
    const queues = new KeyedMutex();
    const order: string[] = [];
    const first = queues.runExclusive('a-1', () => {
      order.push('first');
      return Promise.reject(new Error('failed'));
    });
    const second = queues.runExclusive('a-1', () => Promise.resolve(order.push('second')));
    await expect(first).rejects.toThrow('failed');
    await second;
    expect(order).toEqual(['first', 'second']);
  });

  it('are not waited for without end, and who gave up lets nobody pass', async () => {
    const queues = new KeyedMutex(20);
    const [slow, late] = [held(), held()];
    const first = queues.runExclusive('a-1', slow.work);
    await expect(queues.runExclusive('a-1', late.work)).rejects.toBeInstanceOf(Overloaded);
    const third = queues.runExclusive('a-1', held().work);
    await expect(third).rejects.toBeInstanceOf(Overloaded);
    expect(late.marks.begun).toBe(false);
    slow.marks.end();
    await expect(first).resolves.toBe('done');
    await expect(queues.runExclusive('a-1', () => Promise.resolve('next'))).resolves.toBe('next');
  });

  it('do not hold up other streams', async () => {
    const queues = new KeyedMutex();
    const slow = held();
    const first = queues.runExclusive('a-1', slow.work);
    await expect(queues.runExclusive('a-2', () => Promise.resolve('other'))).resolves.toBe('other');
    slow.marks.end();
    await first;
  });
});
