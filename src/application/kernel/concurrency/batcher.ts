import { BatchPacing } from './batch-pacing.js';

/**
 * Does for many at once what is asked for one by one: what is asked in the same moment, or while a run is under way, is
 * gathered and goes as the next run, `most` at a time. A run waits a moment for as many as went with the one before.
 * `run` answers in the order of what it was given; when it fails, so does everything that went with it.
 */
export function batcher<Item, Answer>(
  most: number,
  run: (items: readonly Item[]) => Promise<readonly Answer[]>,
): (item: Item) => Promise<Answer> {
  interface Waiting {
    readonly item: Item;
    readonly resolve: (answer: Answer) => void;
    readonly reject: (fault: unknown) => void;
  }
  const gathering: Waiting[] = [];
  const pace = new BatchPacing();
  let asked = false;
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

  const go = async (): Promise<void> => {
    if (underWay || gathering.length === 0) return;
    underWay = true;
    const batch = gathering.splice(0, most);
    pace.sent(batch.length);
    await runOne(batch);
    underWay = false;
    next();
  };

  const next = (): void => {
    if (!underWay && gathering.length > 0) pace.when(gathering.length, () => void go());
  };

  return (item) =>
    new Promise((resolve, reject) => {
      gathering.push({ item, resolve, reject });
      if (asked || underWay) return;
      asked = true;
      // Once the moment has passed: what is asked in it goes along.
      queueMicrotask(() => {
        asked = false;
        next();
      });
    });
}
