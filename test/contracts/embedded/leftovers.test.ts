import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endLeftovers, record } from '../../../src/infrastructure/embedded/leftovers.js';
import { identityOf, isAlive } from '../../../src/infrastructure/embedded/process-identity.js';

let folder: string;
let file: string;
let child: ChildProcess;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-record-'));
  file = join(folder, 'processes.json');
  child = spawn('sleep', ['600']);
  await once(child, 'spawn');
});
afterEach(() => {
  child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

describe('a process on record', () => {
  it('is ended, and its record with it', async () => {
    const { pid = 0 } = child;
    const identity = identityOf(pid) ?? '';
    record(file, [{ name: 'redis', pid, identity, signals: ['SIGTERM'] }]);

    await expect(endLeftovers(file)).resolves.toEqual(['redis']);

    expect(isAlive(pid, identity)).toBe(false);
    expect(existsSync(file)).toBe(false);
  });

  it('is left alone when its number belongs to another process by now', async () => {
    const { pid = 0 } = child;
    record(file, [{ name: 'redis', pid, identity: 'of an earlier time', signals: ['SIGTERM'] }]);

    await expect(endLeftovers(file)).resolves.toEqual([]);

    expect(identityOf(pid)).toBeDefined();
  });

  it('is nobody when the record is torn', async () => {
    writeFileSync(file, '[{"name":"redis","pid":');

    await expect(endLeftovers(file)).resolves.toEqual([]);
  });
});
