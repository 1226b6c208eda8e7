/**
 * Does for many at once what is asked for one by one: what is asked in the same moment, or while a run is under way, is
 * gathered and goes as the next run, `most` at a time. `run` answers in the order of what it was given. When it fails, so
 * does everything that went with it.
 */
export function gathered<Item, Answer>(
  most: number,
  run: (items: readonly Item[]) => Promise<readonly Answer[]>,
): (item: Item) => Promise<Answer> {
  interface Waiting {
    readonly item: Item;
    readonly resolve: (answer: Answer) => void;
    readonly reject: (fault: unknown) => void;
  }
  const gathering: Waiting[] = [];
  let underWay = false;

  const runOne = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const answers = await run(batch.map(({ item }) => item));
      if (answers.length !== batch.length) throw new Error('A run answers as often as it was asked.');
      // As many as there are in the batch, so each index holds one.
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
    } catch (fault) {
      for (const { reject } of batch) reject(fault);
    }
  };

  const drain = async (): Promise<void> => {
    while (gathering.length > 0) await runOne(gathering.splice(0, most));
    underWay = false;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      gathering.push({ item, resolve, reject });
      if (underWay) return;
      underWay = true;
      // Once the moment has passed: what is asked in it goes along.
      queueMicrotask(() => void drain());
    });
}
