import { refuse, type Refusal } from '../../domain/kernel/refusal.js';
import type { OwnerStreams } from '../event-sourcing/owner-streams.js';
import type { PadRef } from '../ports/pad-keys.js';
import type { ScratchpadStore } from '../ports/scratchpad-store.js';
import { compareWithStream } from './compare-with-stream.js';

/**
 * Compares the ledger of a pad with its stream before the first use in a connection epoch, and mends it.
 * Invariant: no index is assigned twice; no call reaches a ledger that was not compared in this epoch.
 * Why: Redis loses its tail only by restarting, which breaks the connection (docs/flows.md#consistency-check).
 */
export class LedgerConsistency {
  constructor(
    private readonly ref: PadRef,
    private readonly streams: OwnerStreams,
    private readonly store: ScratchpadStore,
  ) {}

  /**
   * Runs a call on a compared pad. `undefined` from the call means that the list is absent: not made yet, lost or
   * destroyed; then the pad is reconciled and the call is made once more.
   * Fails when: the pad is not open → `not_found`.
   */
  async run<T>(call: () => Promise<T | undefined>): Promise<T | Refusal<'not_found'>> {
    if (!(await this.isVerified())) return refuse('not_found');
    const first = await call();
    if (first !== undefined) return first;
    if ((await this.reconcile()) === 'gone') return refuse('not_found');
    return (await call()) ?? refuse('not_found');
  }

  /**
   * Brings list and stream into agreement: an open pad gets back its keys and indexes, and what it has lost is recorded;
   * a deleted pad loses its keys. Why the event comes first: it says what is true, and the repair can be repeated.
   */
  reconcile(): Promise<'open' | 'gone'> {
    return this.streams.runExclusive(this.lockKey(), () => this.verify());
  }

  private async isVerified(): Promise<boolean> {
    const { epoch } = this.store;
    if (epoch.isVerified(this.ref)) return true;
    return this.streams.runExclusive(
      this.lockKey(),
      async () => epoch.isVerified(this.ref) || (await this.verify()) === 'open',
    );
  }

  /** Many callers that meet the same loss at once record it once. */
  private lockKey(): string {
    return `ledger check ${this.ref.ownerId} ${this.ref.scratchpadId}`;
  }

  private async verify(): Promise<'open' | 'gone'> {
    const epoch = this.store.epoch.current();
    const found = await compareWithStream({ ref: this.ref, streams: this.streams, store: this.store });
    if (found === 'open') this.store.epoch.markVerified(this.ref, epoch);
    return found;
  }
}
