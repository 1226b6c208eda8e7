import type { Redis } from 'ioredis';
import type { DirtyPads } from '../../../application/ports/dirty-pads.js';
import type { PadRef } from '../../../application/ports/pad-keys.js';
import { run } from '../connection.js';
import { memberOf, padOf, type KeyNames } from './key-names.js';
import { scanPads } from './scan.js';
import type { PadScripts } from './scripts.js';

export class RedisDirtyPads implements DirtyPads {
  constructor(
    private readonly redis: Redis & PadScripts,
    private readonly names: KeyNames,
  ) {}

  take(limit: number): Promise<readonly PadRef[]> {
    const { redis, names } = this;
    return run(async () => (await redis.padTakeDirty(names.dirty, names.taken, limit)).map((member) => padOf(member)));
  }

  markClean(pad: PadRef): Promise<void> {
    return run(async () => {
      await this.redis.srem(this.names.taken, memberOf(pad));
    });
  }

  scan(): AsyncIterable<PadRef> {
    return scanPads(this.redis, this.names.prefix);
  }
}
