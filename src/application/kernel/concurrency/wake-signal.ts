/** Wakes up all that wait. A wake-up is not kept for later waits: look for work, then wait, with no `await` between. */
export class WakeSignal {
  private readonly waiting = new Set<() => void>();

  wake(): void {
    for (const resume of this.waiting) resume();
  }

  /** Waits for a wake-up, a stop or a time limit; false when the limit passed first. */
  wait(limit: { readonly stopped?: AbortSignal; readonly ms?: number }): Promise<boolean> {
    const { stopped, ms } = limit;
    return new Promise((resolve) => {
      const end = (isWoken: boolean) => {
        clearTimeout(timer);
        stopped?.removeEventListener('abort', resume);
        this.waiting.delete(resume);
        resolve(isWoken);
      };
      const resume = () => end(true);
      const timer = ms === undefined ? undefined : setTimeout(end, ms, false);
      this.waiting.add(resume);
      stopped?.addEventListener('abort', resume);
      if (stopped?.aborted) resume();
    });
  }
}
