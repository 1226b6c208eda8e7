import { batcher } from '../../../src/application/kernel/concurrency/batcher.js';

/** Runs that end when they are told to. */
function told() {
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
  return { runs, run, end, items: () => runs.map(({ items }) => items) };
}

describe('what is asked for one by one', () => {
  it('goes together when it is asked in the same moment, and each gets its own answer', async () => {
    const { run, end, items } = told();
    const ask = batcher(10, run);
    const answers = Promise.all([ask(1), ask(2), ask(3)]);
    await new Promise(setImmediate);
    await end();
    await expect(answers).resolves.toEqual(['1', '2', '3']);
    expect(items()).toEqual([[1, 2, 3]]);
  });

  it('gathers while a run is under way and goes as the next, a number at a time', async () => {
    const { run, end, items } = told();
    const ask = batcher(2, run);
    const first = ask(1);
    await new Promise(setImmediate);
    const later = Promise.all([ask(2), ask(3), ask(4)]);
    await new Promise(setImmediate);
    expect(items()).toEqual([[1]]);
    for (let run = 0; run < 3; run += 1) await end();
    await expect(Promise.all([first, later])).resolves.toEqual(['1', ['2', '3', '4']]);
    expect(items()).toEqual([[1], [2, 3], [4]]);
  });

  it('fails with the run that it went with, and no other does', async () => {
    const { run, end } = told();
    const ask = batcher(2, run);
    const both = Promise.allSettled([ask(1), ask(2)]);
    const next = ask(3);
    await new Promise(setImmediate);
    await end(new Error('away'));
    await end();
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(next).resolves.toBe('3');
  });

  it('fails when a run does not answer as often as it was asked', async () => {
    const ask = batcher<number, string>(2, () => Promise.resolve([]));
    await expect(ask(1)).rejects.toThrow('as often as it was asked');
  });
});
