import type { ScratchpadStore } from '../../../application/ports/scratchpad-store.js';
import { connect, run } from '../connection.js';
import { assertDurable } from '../durability.js';
import { RedisConnectionEpoch } from './connection-epoch.js';
import { RedisContentStore } from './content-store.js';
import { RedisDirtyPads } from './dirty-pads.js';
import { KeyNames } from './key-names.js';
import { RedisLedgerRepair } from './ledger-repair.js';
import { RedisLedgerStore } from './ledger-store.js';
import { RedisPadKeys } from './pad-keys.js';
import { withScripts } from './scripts.js';

export interface RedisScratchpadStore extends ScratchpadStore {
  /** Fails when: Redis evicts keys → StartupError. Answers what else is weaker than it should be, one line each. */
  assertDurable(): Promise<string[]>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the scratchpad store in a Redis; all six ports share one connection. */
export function openScratchpadStore(url: string, options: { readonly keyPrefix?: string } = {}): RedisScratchpadStore {
  const redis = withScripts(connect(url));
  const names = new KeyNames(options.keyPrefix ?? '');
  return {
    ledger: new RedisLedgerStore(redis, names),
    content: new RedisContentStore(redis, names),
    keys: new RedisPadKeys(redis, names),
    repair: new RedisLedgerRepair(redis, names),
    dirtyPads: new RedisDirtyPads(redis, names),
    epoch: new RedisConnectionEpoch(redis),
    assertDurable: () => assertDurable(redis),
    ping: () =>
      run(async () => {
        await redis.ping();
      }),
    close() {
      redis.disconnect();
      return Promise.resolve();
    },
  };
}
