/**
 * Works on items, at most `atOnce` at a time. Fails when: work on an item fails → the first failure, thrown once the work
 * on all items has ended.
 */
export async function runParallel<Item>(
  atOnce: number,
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const begin = async (item: Item) => {
    try {
      await work(item);
    } catch (failure) {
      failures.push(failure);
    }
  };
  for await (const item of items) {
    const one: Promise<void> = begin(item).finally(() => running.delete(one));
    running.add(one);
    if (running.size >= atOnce) await Promise.race(running);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
