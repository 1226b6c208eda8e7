import { Mutex, withTimeout } from 'async-mutex';

/**
 * Runs work of the same key one after another within this process.
 * Invariant: work that gave up waiting never starts, and lets no later work pass the work before it.
 * Fails when: the wait exceeds `patienceMs` → the error that `tooLong` makes; the work has not started.
 */
export class KeyedMutex {
  private readonly locks = new Map<string, { readonly mutex: Mutex; users: number }>();

  constructor(
    private readonly tooLong: () => Error,
    private readonly patienceMs = 8_000,
  ) {}

  async runExclusive<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const lock = this.locks.get(key) ?? { mutex: new Mutex(), users: 0 };
    this.locks.set(key, lock);
    lock.users += 1;
    const { mutex } = lock;
    try {
      const turn = mutex.isLocked() ? withTimeout(mutex, this.patienceMs, this.tooLong()) : mutex;
      return await turn.runExclusive(work);
    } finally {
      lock.users -= 1;
      if (lock.users === 0) this.locks.delete(key);
    }
  }
}
