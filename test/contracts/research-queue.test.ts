import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { ResearchWork } from '../../src/application/ports/work-queues.js';
import { openResearchQueue, type RunningResearchQueue } from '../../src/infrastructure/bullmq/research.js';
import { eventually } from '../support/eventually.js';
import { ownRedis, type OwnRedis } from '../support/own-redis.js';
import { quiet } from '../support/quiet.js';
import { until } from '../support/until.js';

let server: OwnRedis;
let redis: Redis;
let research: RunningResearchQueue;
beforeAll(async () => {
  server = await ownRedis();
});
afterAll(() => server.remove());
beforeEach(() => {
  redis = new Redis(server.url);
  research = openResearchQueue({ redisUrl: server.url, log: quiet });
});
afterEach(async () => {
  await research.close();
  await redis.flushall();
  redis.disconnect();
});

const noSweep = async () => undefined;
const noting =
  (worked: string[]): ResearchWork =>
  async (researchId) => {
    worked.push(researchId);
    return 'done';
  };
const jobsLeft = async (id: string) => (await redis.keys(`bull:research:${id}*`)).length;
const newRun = () => `run_${randomUUID().replaceAll('-', '')}`;

describe('the queue of research', () => {
  it('works once on what is asked for twice, and leaves no job behind', async () => {
    const worked: string[] = [];
    const id = newRun();
    await research.queue.enqueue(id);
    await research.queue.enqueue(id);
    research.startWorker(noting(worked), noSweep);
    await eventually(
      () => jobsLeft(id),
      (jobs) => jobs === 0,
    );
    expect(worked).toEqual([id]);
  });

  it('carries nothing but the id', async () => {
    const id = newRun();
    await research.queue.enqueue(id);
    expect(JSON.parse((await redis.hget(`bull:research:${id}`, 'data')) ?? '')).toEqual({ researchId: id });
  });

  it('hands what is under way back when its worker is closed', async () => {
    const id = newRun();
    await research.queue.enqueue(id);
    let isBegun = false;
    const waits: ResearchWork = (_, stopping) => {
      isBegun = true;
      return new Promise((resolve) => {
        stopping.addEventListener('abort', () => resolve('stopped'));
      });
    };
    const first = research.startWorker(waits, noSweep);
    await until(async () => (isBegun ? true : undefined));
    await first.close();
    const worked: string[] = [];
    research.startWorker(noting(worked), noSweep);
    await until(async () => (worked.length > 0 ? true : undefined));
    expect(worked).toEqual([id]);
  });

  it('tries again what failed, and keeps no word of why', async () => {
    const id = newRun();
    let tries = 0;
    let kept: string | undefined;
    await research.queue.enqueue(id);
    research.startWorker(async () => {
      kept = JSON.stringify(await redis.hgetall(`bull:research:${id}`));
      tries += 1;
      if (tries === 1) throw new Error('a canary in the row');
      return 'done';
    }, noSweep);
    await until(async () => (tries === 2 ? true : undefined));
    expect(kept).toContain('"failedReason":"failed"');
    expect(kept).not.toContain('canary');
  });

  it('asks for what may be lost as soon as a worker starts', async () => {
    const id = newRun();
    const worked: string[] = [];
    research.startWorker(noting(worked), () => research.queue.enqueue(id));
    await until(async () => (worked.includes(id) ? true : undefined));
  });
});
