import { Batcher } from '../../../src/application/kernel/concurrency/batcher.js';

/** Runs that end when the test ends them. */
function controlled() {
  const runs: { readonly items: readonly number[]; readonly end: (fault?: Error) => void }[] = [];
  const run = (items: readonly number[]) =>
    new Promise<readonly string[]>((resolve, reject) => {
      const end = (fault?: Error) => (fault ? reject(fault) : resolve(items.map(String)));
      runs.push({ items, end });
    });
  const end = async (fault?: Error): Promise<void> => {
    runs.at(-1)?.end(fault);
    await new Promise(setImmediate);
  };
  return { run, end, batches: () => runs.map(({ items }) => items) };
}

describe.each([true, false])('a batcher (paced: %s)', (paced) => {
  it('sends what is asked in the same moment together, and gives each its own answer', async () => {
    const { run, end, batches } = controlled();
    const batcher = new Batcher({ max: 10, paced, run });
    const answers = Promise.all([batcher.add(1), batcher.add(2), batcher.add(3)]);
    await new Promise(setImmediate);
    await end();
    await expect(answers).resolves.toEqual(['1', '2', '3']);
    expect(batches()).toEqual([[1, 2, 3]]);
  });

  it('sends what comes while a batch is in flight as the next, a number at a time', async () => {
    const { run, end, batches } = controlled();
    const batcher = new Batcher({ max: 2, paced, run });
    const first = batcher.add(1);
    await new Promise(setImmediate);
    const later = Promise.all([batcher.add(2), batcher.add(3), batcher.add(4)]);
    await new Promise(setImmediate);
    expect(batches()).toEqual([[1]]);
    for (let count = 0; count < 3; count += 1) await end();
    await expect(Promise.all([first, later])).resolves.toEqual(['1', ['2', '3', '4']]);
    expect(batches()).toEqual([[1], [2, 3], [4]]);
  });

  it('fails the items of a batch that failed, and no other', async () => {
    const { run, end } = controlled();
    const batcher = new Batcher({ max: 2, paced, run });
    const both = Promise.allSettled([batcher.add(1), batcher.add(2)]);
    const next = batcher.add(3);
    await new Promise(setImmediate);
    await end(new Error('away'));
    await end();
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(next).resolves.toBe('3');
  });
});

describe('a batcher', () => {
  it('fails a batch that has not one answer for each item', async () => {
    const batcher = new Batcher<number, string>({ max: 2, run: () => Promise.resolve([]) });
    await expect(batcher.add(1)).rejects.toThrow('one answer for each item');
  });

  it('lets one item of a batch fail alone', async () => {
    const batcher = new Batcher<number, string>({
      max: 2,
      run: async () => ['one', Promise.reject(new Error('the second'))],
    });
    const [first, second] = await Promise.allSettled([batcher.add(1), batcher.add(2)]);
    expect(first).toEqual({ status: 'fulfilled', value: 'one' });
    expect(second.status).toBe('rejected');
  });

  it('measures a batch by the size of its items, and sends a larger item alone', async () => {
    const batches: (readonly number[])[] = [];
    const batcher = new Batcher<number, number>({
      max: 10,
      sizeOf: (item) => item,
      run: async (items) => {
        batches.push(items);
        return items;
      },
    });
    await Promise.all([4, 6, 12, 3].map((item) => batcher.add(item)));
    expect(batches).toEqual([[4, 6], [12], [3]]);
    expect(batcher.isIdle).toBe(true);
  });
});
