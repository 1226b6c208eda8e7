import { randomUUID } from 'node:crypto';
import { refuse, type Refusal } from '../../domain/kernel/refusal.js';
import { above, highest, type Ranges } from '../../domain/scratchpad/index-ranges.js';
import type { LedgerExtent } from '../../domain/scratchpad/ledger-list.js';
import { currentGeneration, ledger, type Generation } from '../../domain/scratchpad/ledger.js';
import { scratchpad } from '../../domain/scratchpad/scratchpad.js';
import type { OwnerStreams } from '../event-sourcing/owner-streams.js';
import type { PadRef, PadState } from '../ports/pad-keys.js';
import type { ScratchpadStore } from '../ports/scratchpad-store.js';
import { recordLost } from './ledger-events.js';
import { isInRecordedOrder, restoreOrder } from './restore-order.js';

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
    const found = await this.compareWithStream();
    if (found === 'open') this.store.epoch.markVerified(this.ref, epoch);
    return found;
  }

  private async compareWithStream(): Promise<'open' | 'gone'> {
    const { ref, streams, store } = this;
    const pad = await streams.aggregates.load(scratchpad, ref.scratchpadId);
    if (pad.status === 'deleted') await store.keys.destroy(ref);
    if (pad.status !== 'open') return 'gone';
    // The stream first: every index that it covers by now, the list had before.
    const generation = currentGeneration(await streams.aggregates.load(ledger, ref.scratchpadId));
    const state = await store.keys.state(ref);
    const list = state.ledger;
    // Entries move only while the server is away, and then the epoch is a new one.
    const mayHaveMoved = list?.generation === generation.number && !store.epoch.isVerified(ref);
    if (mayHaveMoved && !(await isInRecordedOrder(this.restoring(), generation, list.length))) {
      await restoreOrder(this.restoring(), generation);
      return this.compareWithStream();
    }
    const lost = lostOf(generation, list);
    // A pad that was deleted meanwhile has lost nothing: its keys go after its stream has ended.
    if (lost.length > 0 && !(await this.isOpen())) return 'gone';
    await this.recordLost(generation, list, lost);
    return this.mend(generation, state, pad.createdAt);
  }

  private restoring() {
    return { ref: this.ref, streams: this.streams, store: this.store };
  }

  private async recordLost(generation: Generation, list: LedgerExtent | undefined, lost: Ranges): Promise<void> {
    const system = this.streams.asSystem(randomUUID());
    const reason = list?.generation === generation.number ? 'tail' : 'ledger';
    for (const [from, to] of lost) {
      await recordLost(system, this.ref.scratchpadId, { generation: generation.number, from, to, reason });
    }
  }

  /** Makes missing keys and lifts a list that is behind. A pad that was deleted meanwhile loses them again. */
  private async mend(
    { number, covered }: Generation,
    { ledger: list, contentRevision }: PadState,
    createdAt: string,
  ): Promise<'open' | 'gone'> {
    const { ref, store } = this;
    const extent = { generation: number, length: highest(covered) };
    const isMissing = !list || contentRevision === undefined;
    if (!isMissing && !isBehind(list, extent)) return 'open';
    if (isMissing) await store.keys.create(ref, createdAt, extent);
    if (list && isBehind(list, extent)) await store.repair.fastForward(ref, extent);
    if (await this.isOpen()) return 'open';
    await store.keys.destroy(ref);
    return 'gone';
  }

  private async isOpen(): Promise<boolean> {
    return (await this.streams.aggregates.load(scratchpad, this.ref.scratchpadId)).status === 'open';
  }
}

/** Indexes that the stream covers and the list does not reach, without those that are known to be lost. */
function lostOf({ number, covered, lost }: Generation, list: LedgerExtent | undefined): Ranges {
  if (list && list.generation > number) return [];
  return above(covered, list?.generation === number ? list.length : 0, lost);
}

const isBehind = (list: LedgerExtent, extent: LedgerExtent): boolean =>
  list.generation < extent.generation || (list.generation === extent.generation && list.length < extent.length);
