import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redisBinary, type Machine } from '../../../src/infrastructure/embedded/redis-binary.js';

let bin: string;
beforeEach(() => (bin = mkdtempSync(join(tmpdir(), 'palimpsest-bin-'))));
afterEach(() => rmSync(bin, { recursive: true }));

describe('the Redis program', () => {
  it('is the one on PATH', async () => {
    const { machine, ran } = aMachine({ programs: ['redis-server', 'apt-get'], isRoot: true });

    await expect(redisBinary(quiet, machine)).resolves.toBe(join(bin, 'redis-server'));
    expect(ran).toEqual([]);
  });

  it('is installed with apt by root, without a question, and said so', async () => {
    const { machine, ran } = aMachine({ programs: ['apt-get'], isRoot: true, installs: true });
    const lines: string[] = [];

    await expect(redisBinary((line) => lines.push(line), machine)).resolves.toBe(join(bin, 'redis-server'));
    expect(ran).toEqual([
      expect.stringContaining('apt-get update'),
      expect.stringMatching(/apt-get install .*-y .*redis-server$/),
    ]);
    expect(lines).toEqual(['Installing redis-server with apt-get; this takes a moment.']);
  });

  it('is asked for when apt could not install it', async () => {
    const { machine } = aMachine({ programs: ['apt-get'], isRoot: true });

    await expect(redisBinary(quiet, machine)).rejects.toThrow(
      'apt-get could not install redis-server: install it by hand, or set REDIS_URL.',
    );
  });

  it('is never installed by an ordinary user, who gets the command that helps', async () => {
    const { machine, ran } = aMachine({ programs: ['apt-get'], isRoot: false, installs: true });

    await expect(redisBinary(quiet, machine)).rejects.toThrow('sudo apt-get install redis-server');
    expect(ran).toEqual([]);
  });

  it('is asked for on a machine without apt', async () => {
    const { machine } = aMachine({ programs: [], isRoot: true });

    await expect(redisBinary(quiet, machine)).rejects.toMatchObject({
      name: 'StartupError',
      message: expect.stringContaining('or set REDIS_URL') as string,
    });
  });
});

const quiet = () => undefined;

interface Sketch {
  readonly programs: readonly string[];
  readonly isRoot: boolean;
  readonly installs?: boolean;
}

/** A machine with these programs only; its apt-get brings redis-server when `installs`. */
function aMachine({ programs, isRoot, installs = false }: Sketch) {
  const put = (name: string) => {
    writeFileSync(join(bin, name), '');
    chmodSync(join(bin, name), 0o755);
  };
  programs.forEach(put);
  const ran: string[] = [];
  const machine: Machine = {
    path: bin,
    isRoot,
    run(command, args) {
      ran.push([command, ...args].join(' '));
      if (installs && args.includes('install')) put('redis-server');
      return Promise.resolve(installs);
    },
  };
  return { machine, ran };
}
