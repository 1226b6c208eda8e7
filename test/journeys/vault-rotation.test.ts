import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeContainer } from '../../src/composition/container.js';
import { readConfig } from '../../src/infrastructure/config.js';
import { makeLogger } from '../../src/infrastructure/logger.js';
import { makeKekRing } from '../../src/infrastructure/vault/kek-ring.js';
import { Program } from '../faults/rig/program.js';
import { runCli } from '../support/cli.js';
import { freePort } from '../support/free-port.js';
import { envOf } from '../support/program-env.js';
import { restClient } from '../support/rest-client.js';
import { startStack, type Stack } from '../support/stack.js';
import { T } from '../../src/composition/tokens.js';

let stack: Stack;
let folder: string;
beforeAll(async () => {
  stack = await startStack();
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-rotation-'));
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
});

const second = { number: 2, key: randomBytes(32) };
const text = ({ number, key }: { readonly number: number; readonly key: Buffer }) =>
  `${number}:${key.toString('base64')}`;
const environment = (more: Readonly<Record<string, string>>) => ({
  ...envOf(stack.backends),
  PALIMPSEST_HOME: folder,
  LOG_LEVEL: 'warn',
  ...more,
});

describe('palimpsest vault rotate', () => {
  it('moves an installation to a new key: credentials, personal text and API keys go on, without the earlier one', async () => {
    const ada = await stack.user('Ada');
    const enrolled = await ada.post('/v1/agents/enroll', {
      harness: 'native',
      name: 'Scout',
      model: 'm',
      provider: 'anthropic',
      idempotencyKey: randomUUID(),
      credential: { mode: 'intake', type: 'api_key', value: 'sk-kept' },
    });
    const { id } = (enrolled.data as { agent: { id: string } }).agent; // as agent.enroll declares
    const first = stack.backends.keks.current;

    const both = environment({ PALIMPSEST_KEK: text(second), PALIMPSEST_KEK_OTHERS: text(first) });
    const rotated = await runCli(['vault', 'rotate'], { env: both });
    expect([rotated.code, rotated.stderr]).toEqual([0, '']);
    expect(rotated.stdout).toMatch(/^Everything is wrapped with key 2: 1 credentials and \d+ data keys were not\.\n$/);

    const port = await freePort();
    const only = environment({ PALIMPSEST_KEK: text(second), PORT: String(port) });
    const server = new Program('api', only, join(folder, 'process.log'));
    await server.start();
    const client = restClient(`http://127.0.0.1:${port}`, ada.key);
    expect((await client.get('/v1/me')).data).toMatchObject({ user: { name: 'Ada' } });
    expect((await client.get(`/v1/agents/${id}/enrollment`)).data).toMatchObject({ agent: { name: 'Scout' } });
    expect((await client.get('/v1/audit/events?type=agent.enrolled')).text).toContain('Scout');
    await server.stop();

    const backends = { ...stack.backends, keks: makeKekRing(second) };
    const log = makeLogger({ level: 'silent' });
    const wired = makeContainer(readConfig({ PALIMPSEST_HOME: folder }), backends, log);
    const vault = await wired.get(T.vault);
    expect((await vault.open(ada.userId, 'anthropic'))?.reveal()).toBe('sk-kept');
    await wired.close();
  });

  it('leaves no start to who has only the earlier key, or another one', async () => {
    const port = String(await freePort());
    const wrong = [
      environment({ PORT: port }),
      environment({ PORT: port, PALIMPSEST_KEK: text({ ...second, key: randomBytes(32) }) }),
    ];
    for (const env of wrong) {
      const server = new Program('api', env, join(folder, 'process.log'));
      await expect(server.start()).rejects.toThrow('did not start');
      expect(server.errors).toMatch(/^palimpsest: .*key encryption key 2.*\n$/);
    }
  });

  it('says in one line what is wrong with the keys that it was given', async () => {
    for (const [more, message] of [
      [{ PALIMPSEST_KEK: 'short' }, 'PALIMPSEST_KEK must be 32 bytes in base64'],
      [{ PALIMPSEST_KEK: text(second), PALIMPSEST_KEK_OTHERS: text(second) }, 'PALIMPSEST_KEK_OTHERS holds a number'],
    ] as const) {
      const { code, stderr } = await runCli(['vault', 'rotate'], { env: environment(more) });
      expect([code, stderr.split('\n').length]).toEqual([1, 2]);
      expect(stderr).toContain(message);
      expect(stderr).not.toContain(second.key.toString('base64'));
    }
  });
});
