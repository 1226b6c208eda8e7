import type { Redis } from 'ioredis';
import type { ContentStore, PadContent } from '../../../application/ports/content-store.js';
import type { PadRef } from '../../../application/ports/pad-keys.js';
import { run } from '../connection.js';
import { memberOf, type KeyNames } from './key-names.js';
import type { PadScripts } from './scripts.js';

export class RedisContentStore implements ContentStore {
  constructor(
    private readonly redis: Redis & PadScripts,
    private readonly names: KeyNames,
  ) {}

  read(pad: PadRef): Promise<PadContent | undefined> {
    return run(async () => {
      const [revision, at, body] = await this.redis.hmget(this.names.content(pad), 'revision', 'at', 'body');
      if (typeof revision !== 'string') return undefined;
      return { revision: Number(revision), content: body ?? '', at: at ?? '' };
    });
  }

  stage(pad: PadRef, revision: number, eventId: string, text: string): Promise<boolean> {
    const { redis, names } = this;
    return run(
      async () => (await redis.padStage(names.content(pad), names.dirty, revision, eventId, text, memberOf(pad))) === 1,
    );
  }

  promote(pad: PadRef, revision: number, eventId: string, at: string): Promise<boolean> {
    return run(async () => (await this.redis.padPromote(this.names.content(pad), revision, eventId, at)) === 1);
  }

  unstage(pad: PadRef, revision: number, eventId: string): Promise<void> {
    return run(async () => {
      await this.redis.padUnstage(this.names.content(pad), revision, eventId);
    });
  }
}
