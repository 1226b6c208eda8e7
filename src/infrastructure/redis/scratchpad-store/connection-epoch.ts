import type { Redis } from 'ioredis';
import type { ConnectionEpoch } from '../../../application/ports/connection-epoch.js';
import type { PadRef } from '../../../application/ports/pad-keys.js';
import { run } from '../connection.js';
import { memberOf } from './key-names.js';

const remembered = 50_000;

/** Why an epoch also begins when a connection ends: what is asked for meanwhile may leave over the next one. */
export class RedisConnectionEpoch implements ConnectionEpoch {
  private readonly verified = new Set<string>();
  private epoch = 0;

  constructor(private readonly redis: Redis) {
    for (const change of ['ready', 'close']) redis.on(change, () => this.begin());
  }

  current(): number {
    return this.epoch;
  }

  isVerified(pad: PadRef): boolean {
    return this.verified.has(memberOf(pad));
  }

  markVerified(pad: PadRef, epoch: number): void {
    if (epoch !== this.epoch) return;
    // Most pads come and go: forgetting all at once is cheap, and costs one comparison for each that is still in use.
    if (this.verified.size >= remembered) this.verified.clear();
    this.verified.add(memberOf(pad));
  }

  serverRunId(): Promise<string> {
    return run(async () => /^run_id:(\w+)/m.exec(await this.redis.info('server'))?.[1] ?? '');
  }

  private begin(): void {
    this.epoch += 1;
    this.verified.clear();
  }
}
