import type { ConnectionEpoch } from './connection-epoch.js';
import type { ContentStore } from './content-store.js';
import type { DirtyPads } from './dirty-pads.js';
import type { LedgerRepair } from './ledger-repair.js';
import type { LedgerStore } from './ledger-store.js';
import type { PadKeys } from './pad-keys.js';

/** The six ports of one scratchpad store. A consumer takes the ones it needs. */
export interface ScratchpadStore {
  readonly ledger: LedgerStore;
  readonly content: ContentStore;
  readonly keys: PadKeys;
  readonly repair: LedgerRepair;
  readonly dirtyPads: DirtyPads;
  readonly epoch: ConnectionEpoch;
}
