import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import {
  firstAnswer,
  isRunning,
  processOf,
  processesOf,
  query,
  redis,
  serves,
  Stage,
  until,
  type Urls,
} from './stage.js';

const stage = new Stage();
/** Files of another user can be made by root only; for others the test's name says that it is skipped. */
const asRoot: (name: string, test: () => Promise<void>) => void =
  process.getuid?.() === 0
    ? it
    : (name, test) => it.skip(`${name} (skipped: needs root, to make files of other users)`, test);

afterEach(() => stage.clear());
afterAll(() => Stage.removeTemplate());

describe('the embedded backends', () => {
  it('keep data and addresses over a restart', async () => {
    const home = await stage.usedHome();
    const before = await stage.start(home);
    await query(before.databaseUrl, 'create table kept as select 42 as answer');
    await redis(before.redisUrl, (client) => client.rpush('kept', 'one', 'two'));
    await before.stop();

    const after = await stage.start(home);

    expect(after).toMatchObject({ databaseUrl: before.databaseUrl, redisUrl: before.redisUrl });
    expect(await query(after.databaseUrl, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(await redis(after.redisUrl, (client) => client.lrange('kept', 0, -1))).toEqual(['one', 'two']);
  });

  it('leave nothing running when their server is killed', async () => {
    const home = await stage.usedHome();
    const server = await stage.startServer(home);
    const processes = processesOf(home);
    expect(processes.map(({ name }) => name).sort()).toEqual(['keeper', 'postgres', 'redis']);
    expect(processes.every(isRunning)).toBe(true);

    server.kill();

    await until(() => !processes.some(isRunning));
    expect(await serves(server)).toBe(false);
  });

  it('have everything that was answered before the server was killed', async () => {
    const home = await stage.usedHome();
    const server = await stage.startServer(home);
    await query(server.databaseUrl, 'create table kept as select 42 as answer');
    await redis(server.redisUrl, (client) => client.rpush('kept', 'one', 'two'));

    server.kill();
    const after = await startWhenReleased(home);

    expect(await query(after.databaseUrl, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(await redis(after.redisUrl, (client) => client.lrange('kept', 0, -1))).toEqual(['one', 'two']);
  });

  it('end first what an earlier server and its keeper left', async () => {
    const home = await stage.usedHome();
    const server = await stage.startServer(home);
    const left = processesOf(home).filter(({ name }) => name !== 'keeper');
    process.kill(processOf(home, 'keeper').pid, 'SIGSTOP'); // So that it cannot see its server's end.
    server.kill();
    process.kill(processOf(home, 'keeper').pid, 'SIGKILL');

    const after = await startWhenReleased(home);

    expect(left.some(isRunning)).toBe(false);
    expect(stage.logged).toContain('Ended postgres, left over from an earlier server of this home.');
    expect(stage.logged).toContain('Ended redis, left over from an earlier server of this home.');
    expect(await serves(after)).toBe(true);
  });

  it.each(['postgres', 'redis', 'keeper'])('come back at the same address when %s is killed', async (name) => {
    const home = await stage.usedHome();
    const urls = await stage.start(home);
    const killed = processOf(home, name);

    process.kill(killed.pid, 'SIGKILL');

    await until(() => processesOf(home).some((process) => process.name === name && process.pid !== killed.pid));
    await until(() => serves(urls));
    expect(stage.logged.join()).toContain('is started again');
  });

  it('come back although a query of the killed postgres goes on and on', async () => {
    const home = await stage.usedHome();
    const urls = await stage.start(home);
    const busy = query(urls.databaseUrl, 'select count(*) from generate_series(1, 1000000000000) as n where n < 0');
    const runs = `select 1 from pg_stat_activity where query like '%generate_series%' and pid <> pg_backend_pid()`;
    await until(async () => (await query(urls.databaseUrl, runs)).length > 0);

    process.kill(processOf(home, 'postgres').pid, 'SIGKILL');

    await expect(busy).rejects.toThrow();
    await until(() => serves(urls));
  });

  it('start although the lock of a dead postgres names a living process of its user', async () => {
    const home = await stage.usedHome();
    const folder = join(home, 'data/postgres/data');
    const { uid, gid } = statSync(folder);
    const stranger = spawn('sleep', ['600'], { uid, gid, cwd: '/' });
    writeFileSync(join(folder, 'postmaster.pid'), `${stranger.pid ?? 0}\n${folder}\n`);

    try {
      expect(await serves(await stage.start(home))).toBe(true);
      expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    } finally {
      stranger.kill();
    }
  });

  it('take a home that is thrown away with them, however their server ended', async () => {
    const home = await stage.usedHome();
    const server = await stage.startServer(home, 'throw-away');

    server.kill();

    await until(() => !existsSync(home));
  });

  it('start from scratch after a start that was cut short', async () => {
    const home = stage.newHome();
    mkdirSync(join(home, 'data/postgres/making'), { recursive: true });
    writeFileSync(join(home, 'data/postgres/making/PG_VERSION'), '18');

    expect(await serves(await stage.start(home))).toBe(true);
  });

  asRoot('keep their data outside a home that their own user cannot enter', async () => {
    const closed = mkdtempSync(join(tmpdir(), 'palimpsest-closed-'));
    const home = join(closed, 'home');

    const { databaseUrl, stop } = await stage.start(home);
    const outside = `/var/lib/palimpsest/${readHomeId(home)}`;

    try {
      expect(stage.logged.join()).toContain(`The data of this home lies in ${outside}`);
      expect(existsSync(join(home, 'data'))).toBe(false);
      expect(await query(databaseUrl, 'show data_directory')).toEqual([{ data_directory: `${outside}/postgres/data` }]);
    } finally {
      await stop();
      rmSync(outside, { recursive: true });
      rmSync(closed, { recursive: true });
    }
  });
});

describe('embedded backends that run', () => {
  const sharedStage = new Stage();
  let home: string;
  let urls: Urls;

  beforeAll(async () => {
    home = await sharedStage.usedHome();
    urls = await sharedStage.start(home);
  });
  afterAll(() => sharedStage.clear());

  it('are durable before they answer, and never evict', async () => {
    expect(
      await query(
        urls.databaseUrl,
        `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit')`,
      ),
    ).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'synchronous_commit', setting: 'on' },
    ]);
    expect(await redis(urls.redisUrl, (client) => client.config('GET', 'append*', 'maxmemory-policy'))).toEqual(
      expect.arrayContaining(['appendonly', 'yes', 'appendfsync', 'always', 'maxmemory-policy', 'noeviction']),
    );
  });

  it('open to nobody without the password', async () => {
    await expect(query(urls.databaseUrl.replace(/:[^:@]*@/, ':guess@'), 'select 1')).rejects.toMatchObject({
      code: '28P01',
    });
    await expect(firstAnswer(urls.redisUrl, 'GET any')).resolves.toContain('NOAUTH');
  });

  it('lend their home to one server at a time', async () => {
    const second = await stage.startServer(home);

    expect(second.refused).toBe(`PALIMPSEST_HOME ${home} is in use by the server with process id ${process.pid}.`);
    expect(await serves(urls)).toBe(true);
  });

  it('show their secrets and data to nobody else', async () => {
    const others = (file: string) => statSync(join(home, file)).mode & 0o007;
    const groupAndOthers = (file: string) => statSync(join(home, file)).mode & 0o077;

    expect(others('.')).toBe(0);
    expect(
      ['data', 'data/postgres', 'data/redis', 'logs', 'postgres.password', 'redis.password'].map(groupAndOthers),
    ).toEqual([0, 0, 0, 0, 0, 0]);
  });
});

describe('Redis that was cut off in the midst of a transaction', () => {
  it('takes it back on disk too, so that nothing written afterwards goes with it', async () => {
    const home = await stage.usedHome();
    const push = (client: Redis, name: string) =>
      client.multi().rpush('list', name).hset('hash', name, '1').sadd('set', name).exec();
    const before = await stage.start(home);
    await redis(before.redisUrl, async (client) => {
      for (const name of ['kept', 'torn']) await push(client, name);
    });
    await before.stop();
    const folder = join(home, 'data/redis/appendonlydir');
    const log = join(folder, readdirSync(folder).find((file) => file.endsWith('.incr.aof')) ?? '');
    truncateSync(log, statSync(log).size - 40);

    const torn = await stage.start(home);
    await redis(torn.redisUrl, (client) => client.rpush('list', 'written afterwards'));
    await torn.stop();
    const after = await stage.start(home);

    expect(await redis(after.redisUrl, (client) => client.lrange('list', 0, -1))).toEqual([
      'kept',
      'written afterwards',
    ]);
  });
});

describe('a home', () => {
  it('puts a log aside that has grown long', async () => {
    const home = await stage.usedHome();
    truncateSync(join(home, 'logs/redis.log'), 9 * 1024 * 1024);

    await stage.start(home);

    expect(statSync(join(home, 'logs/redis.log.1')).size).toBe(9 * 1024 * 1024);
    expect(statSync(join(home, 'logs/redis.log')).size).toBeLessThan(1024 * 1024);
  });

  it('is refused when every user can write to it', async () => {
    const home = stage.newHome();
    chmodSync(home, 0o777);

    await expect(stage.start(home)).rejects.toThrow('can be written by every user');
  });

  asRoot('is refused, and left as it is, when it belongs to another user', async () => {
    const home = stage.newHome();
    chownSync(home, 65_534, 65_534);

    await expect(stage.start(home)).rejects.toThrow('belongs to another user (id 65534): start as that user.');
    expect(readdirSync(home)).toEqual([]);
  });

  it('is refused when it cannot be made', async () => {
    const file = join(stage.newHome(), 'file');
    writeFileSync(file, '');

    await expect(stage.start(join(file, 'home'))).rejects.toMatchObject({ name: 'StartupError' });
  });

  it('is refused, and given back, when another version of PostgreSQL wrote its data', async () => {
    const home = await stage.usedHome();
    const version = join(home, 'data/postgres/data/PG_VERSION');
    writeFileSync(version, '17');

    await expect(stage.start(home)).rejects.toThrow('was written by PostgreSQL 17, this is 18');
    writeFileSync(version, '18');
    expect(await serves(await stage.start(home))).toBe(true);
  });
});

const readHomeId = (home: string): string => readFileSync(join(home, 'id'), 'utf8');

/** The kernel needs a moment to notice a death; until then the home is still the dead server's. */
async function startWhenReleased(home: string) {
  for (;;) {
    try {
      return await stage.start(home);
    } catch (error) {
      if (!(error instanceof Error && error.message.includes('is in use'))) throw error;
    }
  }
}
