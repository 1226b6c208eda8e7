import type { StoredEvent } from './events.js';

type Wake = () => void;

/** Who waits for events: of one stream, or of all. A wake-up carries nothing; the woken look for themselves. */
export class Watchers {
  private readonly all = new Set<Wake>();
  private readonly streams = new Map<string, Set<Wake>>();

  /** Calls `wake` after each commit that touches the stream, or any when undefined. Answers how to stop that. */
  add(stream: string | undefined, wake: Wake): () => void {
    if (stream === undefined) {
      this.all.add(wake);
      return () => this.all.delete(wake);
    }
    const wakes = this.streams.get(stream) ?? new Set();
    this.streams.set(stream, wakes.add(wake));
    return () => {
      wakes.delete(wake);
      if (wakes.size === 0 && this.streams.get(stream) === wakes) this.streams.delete(stream);
    };
  }

  notify(events: readonly StoredEvent[]): void {
    for (const wake of this.all) wake();
    if (this.streams.size === 0) return;
    for (const stream of new Set(events.map((event) => event.stream))) {
      for (const wake of this.streams.get(stream) ?? []) wake();
    }
  }

  notifyEveryone(): void {
    for (const wake of this.all) wake();
    for (const wakes of this.streams.values()) for (const wake of wakes) wake();
  }
}
