/** Work that waits for the work before it, however that ended. */
export class Mutex {
  private last: Promise<unknown> = Promise.resolve();

  runExclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.last.then(work);
    this.last = turn.catch(() => undefined);
    return turn;
  }
}
