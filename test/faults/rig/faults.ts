import { setTimeout as pause } from 'node:timers/promises';
import type { TcpProxy } from '../../support/tcp-proxy.js';
import type { Random } from './random.js';
import type { Placed, Site } from './site.js';
import type { Faults } from './storm.js';

/** What can go wrong between two programs that talk. */
export const faultsBetween = (name: string, proxy: TcpProxy, random: Random): Faults => ({
  [`${name}: connections reset`]: () => proxy.reset(),
  [`${name}: next reply lost`]: () => proxy.loseNextReply(),
  [`${name}: cut in mid-reply`]: () => proxy.cutAfter(random.between(1, 400)),
  [`${name}: slow`]: () => during(random.between(100, 300), () => proxy.delay(random.between(5, 40)), proxy),
  [`${name}: black hole`]: () => during(random.between(100, 400), () => proxy.blackHole(), proxy),
});

async function during(ms: number, fault: () => void, proxy: TcpProxy): Promise<void> {
  fault();
  await pause(ms);
  proxy.pass();
}

export const redisKilled = ({ redis }: Site): Faults => ({
  async 'redis: killed'() {
    await redis.kill();
    await redis.start();
  },
});

export const eventStoreKilled = ({ backends }: Site): Faults => ({ 'eventstore: killed': () => backends.killServer() });

export const postgresKilled = ({ backends }: Site): Faults => ({ 'postgres: killed': () => backends.killPostgres() });

export const programsFailing = (programs: readonly [Placed, ...Placed[]], random: Random): Faults => ({
  async 'a process: killed'() {
    const victim = random.pick(programs);
    await victim.kill();
    await victim.start();
  },
  async 'a process: frozen for a while'() {
    const victim = random.pick(programs);
    victim.freeze();
    await pause(random.between(200, 800));
    victim.thaw();
  },
});
