/** Work took longer than its time limit. */
export class DeadlineExceeded extends Error {}

/**
 * Waits for work until a time limit or a signal; the work itself goes on.
 * Fails when: the limit passes → DeadlineExceeded; the signal is aborted → its reason.
 */
export async function within<Result>(limit: number | AbortSignal, work: Promise<Result>): Promise<Result> {
  let release = (): void => undefined;
  const over = new Promise<never>((_, reject) => {
    if (typeof limit === 'number') {
      const timer = setTimeout(() => reject(new DeadlineExceeded('timeout')), limit);
      release = () => clearTimeout(timer);
    } else {
      const end = () => reject(limit.reason as Error); // An abort gives an error as its reason.
      limit.addEventListener('abort', end);
      release = () => limit.removeEventListener('abort', end);
      if (limit.aborted) end();
    }
  });
  return Promise.race([work, over]).finally(release);
}
