import type { Snapshot, Snapshots } from '../../application/ports/snapshots.js';

/** Snapshots for as long as the process lives. They hold copies, as stored ones do. */
export class MemorySnapshots implements Snapshots {
  private readonly kept = new Map<string, Snapshot>();

  load(stream: string): Promise<Snapshot | undefined> {
    return Promise.resolve(structuredClone(this.kept.get(stream)));
  }

  save(stream: string, snapshot: Snapshot): Promise<void> {
    this.kept.set(stream, structuredClone(snapshot));
    return Promise.resolve();
  }
}
