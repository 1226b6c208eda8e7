import { Command, Help } from 'commander';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations } from '../../src/application/registry.js';
import { addOperations } from '../../src/interfaces/cli/commands.js';
import { runCli } from '../support/cli.js';
import { startStack, type Member, type Stack } from '../support/stack.js';

let stack: Stack;
let ada: Member;
let folder: string;
beforeAll(async () => {
  stack = await startStack();
  ada = await stack.user('Ada');
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-cli-'));
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
});

const asAda = () => ({ PALIMPSEST_URL: stack.url, PALIMPSEST_KEY: ada.key });
const run = (args: readonly string[], stdin = '') => runCli(args, { env: asAda(), stdin });
const json = (text: string) => JSON.parse(text) as { data: Record<string, unknown>; error?: { code: string } };

const enrollment = ['--harness', 'native', '--name', 'Scout', '--model', 'anthropic/m', '--provider', 'anthropic'];
const intake = [...enrollment, '--credential.mode', 'intake'];

describe('the command line', () => {
  const allOf = (command: Command): readonly Command[] => command.commands;
  const listedOf = (command: Command): readonly Command[] => {
    const listed = new Help().visibleCommands(command);
    return command.commands.filter((inner) => listed.includes(inner));
  };
  /** The commands without commands below them, by their words. */
  const leavesOf = (
    command: Command,
    below: (command: Command) => readonly Command[],
    words: readonly string[] = [],
  ): readonly string[] =>
    command.commands.length === 0
      ? [words.join('.')]
      : below(command).flatMap((inner) => leavesOf(inner, below, [...words, inner.name()]));

  it('has every operation of the registry, by the words of its name', async () => {
    const program = new Command();
    addOperations(program, operations, []);
    const names = operations.map(({ name }) => name);
    expect([...leavesOf(program, listedOf)].sort()).toEqual([...names].sort());
    const formerNames = operations.flatMap(({ recordedAs }) => recordedAs ?? []);
    expect(formerNames).toEqual(['scratchpad.update']);
    expect([...leavesOf(program, allOf)].sort()).toEqual([...names, ...formerNames].sort());
    const top = await runCli(['--help']);
    for (const { name } of operations) expect(top.stdout).toContain(`  ${name.split('.')[0] ?? ''} `);
  });

  it('lists the fields of an operation, and no flag for a secret', async () => {
    const { stdout, code } = await runCli(['agent', 'enroll', '--help']);
    expect(code).toBe(0);
    for (const flag of ['--harness', '--name', '--credential.mode <reference|intake>', '--secret-file']) {
      expect(stdout).toContain(flag);
    }
    expect(stdout).not.toContain('credential.value');
  });

  it('runs a renamed operation under its former name: the same command under one idempotency key', async () => {
    const { key } = await stack.user('Bea');
    const runAsBea = (args: readonly string[]) =>
      runCli(args, { env: { PALIMPSEST_URL: stack.url, PALIMPSEST_KEY: key }, stdin: '' });
    const thread = json((await runAsBea(['thread', 'create', '--json'])).stdout).data;
    const pad = json(
      (await runAsBea(['scratchpad', 'create', '--thread-id', String(thread['id']), '--json'])).stdout,
    ).data;
    const flags = ['--scratchpad-id', String(pad['id']), '--metadata', '{"team":"a"}', '--json'];
    const once = [...flags, '--idempotency-key', randomUUID()];
    const former = await runAsBea(['scratchpad', 'update', ...once]);
    const current = await runAsBea(['scratchpad', 'metadata', 'set', ...once]);
    expect([former.code, former.stderr, current.code, current.stderr]).toEqual([0, '', 0, '']);
    expect(json(former.stdout)).toMatchObject({ data: { metadata: { team: 'a' } } });
    expect(json(former.stdout)).not.toHaveProperty('replayed');
    expect(json(current.stdout)).toMatchObject({ data: { metadata: { team: 'a' } }, replayed: true });
  });

  it('creates, reads, changes and lists', async () => {
    const made = await run(['thread', 'create', '--title', 'Plan', '--metadata', '{"a":"b"}', '--json']);
    expect([made.code, made.stderr]).toEqual([0, '']);
    const { id } = json(made.stdout).data;
    const pad = json((await run(['scratchpad', 'create', '--threadId', String(id), '--json'])).stdout).data;
    const set = await run(['scratchpad', 'content', 'set', '--scratchpad-id', String(pad['id']), '--content', 'Words']);
    expect(set.stdout).toContain('revision: 1');
    const listed = await run(['thread', 'list', '--limit', '5', '--json']);
    expect(json(listed.stdout).data).toEqual([expect.objectContaining({ id, title: 'Plan', metadata: { a: 'b' } })]);
    expect((await run(['thread', 'list'])).stdout).toMatch(/^ID +TITLE .*\nthread_\w+ +Plan /);
    expect((await run(['audit', 'export'])).stdout.trim().split('\n').length).toBeGreaterThan(3);
  });

  it('exits with the code of the refusal, and says it on standard error', async () => {
    const cases: readonly (readonly [readonly string[], number, string])[] = [
      [['thread', 'get', '--thread-id', 'thread_01j9z3k4m5n6p7q8r9s0t1v2w3'], 5, 'not_found'],
      [['thread', 'list', '--limit', '1000'], 2, 'validation_failed'],
      [['user', 'create', '--name', 'Eve'], 4, 'authorization_refused'],
      [['agent', 'enroll', ...enrollment, '--credential.mode', 'reference'], 7, 'precondition_failed'],
    ];
    for (const [args, code, name] of cases) {
      const reported = await run(args);
      expect([reported.code, reported.stdout, reported.stderr.split(':')[0]]).toEqual([code, '', name]);
      const whole = await run([...args, '--json']);
      expect([whole.code, whole.stderr, json(whole.stdout).error?.code]).toEqual([code, '', name]);
    }
    const stranger = await runCli(['me', 'get'], { env: { PALIMPSEST_URL: stack.url, PALIMPSEST_KEY: 'plm_no' } });
    expect([stranger.code, stranger.stderr.split(':')[0]]).toEqual([3, 'authentication_failed']);
  });

  it('names what it does not know, where that is a name', async () => {
    const reported = async (...args: readonly string[]) => (await run(args)).stderr.split('\n')[0];
    expect(await reported('thread', 'get', '--colour', 'red')).toBe("error: unknown option '--colour'");
    expect(await reported('thread', 'get', '--thread-di=x')).toContain("'--thread-di'");
    expect(await reported('thread', 'explode')).toBe("error: unknown command 'explode'");
    expect(await reported('thread', 'create', '--input', join(folder, 'missing'))).toContain('The file for --input');
  });

  it('says in one line what is wrong with how it was called', async () => {
    for (const args of [
      ['thread', 'get', '--colour', 'red'],
      ['thread', 'explode'],
      ['thread', 'create', '--input', join(folder, 'missing')],
    ]) {
      const { code, stdout, stderr } = await run(args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).not.toContain('    at ');
    }
  });

  it('gives tools the scratchpad that they act on, by an option or the environment', async () => {
    const threadId = (await ada.post('/v1/threads')).data as { id: string }; // everything that is made has an id
    const { id } = (await ada.post('/v1/scratchpads', { threadId: threadId.id })).data as { id: string };
    const appended = await run(['append_scratchpad', '--note', 'by option', '--scratchpad', id, '--json']);
    expect(json(appended.stdout).data).toEqual({ index: 1 });
    const env = { ...asAda(), PALIMPSEST_SCRATCHPAD: id };
    expect((await runCli(['read_scratchpad'], { env })).stdout).toContain('[1] by option');
    const unbound = await run(['read_scratchpad']);
    expect([unbound.code, unbound.stdout]).toEqual([7, '']);
    expect(unbound.stderr).toContain('--scratchpad');
    expect((await runCli(['thread', 'list'], { env })).code).toBe(0);
  });

  it('reports a server that does not answer, with the key that makes asking again safe', async () => {
    const env = { PALIMPSEST_URL: 'http://127.0.0.1:1', PALIMPSEST_KEY: ada.key };
    const { code, stderr } = await runCli(['thread', 'create'], { env });
    expect(code).toBe(10);
    expect(stderr).toMatch(/^unavailable: .*\n {2}--idempotency-key [0-9a-f-]{36}\n$/);
  });

  it('prints the words of others without what would steer a terminal', async () => {
    await ada.post('/v1/threads', { title: 'red \u001b[31m\u0007\u009b1m \u202eevil' });
    const { stdout } = await run(['thread', 'list']);
    expect(stdout).toContain('red');
    for (const steering of ['\u001b', '\u0007', '\u009b', '\u202e']) expect(stdout).not.toContain(steering);
  });
});

describe('a secret', () => {
  it('is read from standard input, from a file, or from the input as a whole', async () => {
    const file = join(folder, 'secret');
    writeFileSync(file, 'sk-from-a-file\n');
    const whole = JSON.stringify({
      harness: 'native',
      name: 'Scout',
      model: 'm',
      provider: 'anthropic',
      credential: { mode: 'intake', type: 'api_key', value: 'sk-in-the-input' },
    });
    for (const reported of [
      await run(['agent', 'enroll', ...intake, '--json'], 'sk-from-standard-input\n'),
      await run(['agent', 'enroll', ...intake, '--secret-file', file, '--json']),
      await run(['agent', 'enroll', '--input', '-', '--json'], whole),
    ]) {
      expect([reported.code, reported.stderr]).toEqual([0, '']);
      expect(json(reported.stdout).data).toMatchObject({ result: 'enrolled', agent: { credentialMode: 'intake' } });
      expect(reported.stdout).not.toContain('sk-');
      expect(reported.commandLine).not.toContain('sk-');
    }
  });

  it('is refused as an argument, in a field of its own or inside another, and not repeated', async () => {
    for (const args of [
      ['--credential.value', 'sk-argument'],
      ['--credential.value=sk-argument'],
      ['--credential', '{"mode":"intake","type":"api_key","value":"sk-argument"}'],
    ]) {
      const { code, stdout, stderr } = await run(['agent', 'enroll', ...intake, ...args]);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('secret');
      expect(stderr).not.toContain('sk-argument');
    }
  });

  it.each([
    ['given to a flag that is not there', ['--api-key=sk-live-CANARY1']],
    ['given to a flag with a slip in its name', ['--credential.vale=sk-live-CANARY1']],
    ['given to a flag that takes nothing', ['--json=sk-live-CANARY1']],
    ['with quotes in it', ["--api-key=sk-live'CANARY1' is"]],
    ['given to a short flag', ['-ksk-live-CANARY1']],
    ['given as a flag', ['--sk-live-CANARY1']],
    ['given as the name of its file', ['--secret-file', 'sk-live-CANARY1']],
    ['given as the input', ['--input', '{"credential":"sk-live-CANARY1"}']],
    ['given as a command', [], ['agent', 'sk-live-CANARY1']],
    ['given as what is chosen from', [], ['serve', '--role', 'sk-live-CANARY1']],
  ])('is not repeated when it is %s', async (_, args, words = ['agent', 'enroll', ...intake]) => {
    const { code, stdout, stderr } = await run([...words, ...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).not.toMatch(/sk-live|CANARY|c-a-n-a-r-y/);
  });

  it('that is empty or missing sends nothing', async () => {
    for (const reported of [
      await run(['agent', 'enroll', ...intake]),
      await run(['agent', 'enroll', ...intake, '--input', '-'], '{}'),
    ]) {
      expect(reported.code).toBe(2);
      expect(reported.stderr).toContain('credential.value');
    }
  });
});

describe('login', () => {
  const config = () => ({ PALIMPSEST_CONFIG: join(folder, 'palimpsest', 'config.json') });

  it('keeps the key in a file that only its owner reads, for that server only', async () => {
    const login = await runCli(['login', '--url', stack.url], { env: config(), stdin: `${ada.key}\n` });
    expect([login.code, login.stdout]).toEqual([0, '']);
    const file = config().PALIMPSEST_CONFIG;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain(ada.key);
    expect((await runCli(['me', 'get'], { env: config() })).stdout).toContain('name: Ada');
    const other = await runCli(['me', 'get', '--url', stack.url.replace('127.0.0.1', 'localhost')], { env: config() });
    expect(other.code).toBe(3);
  });

  it('keeps nothing of a key that the server does not know', async () => {
    const env = { PALIMPSEST_CONFIG: join(folder, 'unknown.json') };
    const { code, stderr } = await runCli(['login', '--url', stack.url], { env, stdin: 'plm_wrong\n' });
    expect([code, stderr]).toEqual([2, 'palimpsest: The server does not know this key.\n']);
    expect(() => statSync(env.PALIMPSEST_CONFIG)).toThrow();
  });

  it('is not believed when others could have read or written its file', async () => {
    const file = join(folder, 'open.json');
    writeFileSync(file, JSON.stringify({ url: stack.url, key: ada.key }), { mode: 0o644 });
    const { code, stderr } = await runCli(['me', 'get'], { env: { PALIMPSEST_CONFIG: file } });
    expect(code).toBe(2);
    expect(stderr).toContain('0600');
    expect(stderr).not.toContain(ada.key);
  });
});

describe('the envelope that the command line prints', () => {
  it('is what the API answers, byte for byte but for what each call is called', async () => {
    const body = {
      harness: 'native',
      name: 'Twin',
      persona: null,
      model: 'm',
      provider: 'anthropic',
      credential: { mode: 'reference' },
    };
    await ada.post('/v1/agents/enroll', {
      ...body,
      credential: { mode: 'intake', type: 'api_key', value: 'sk-1' },
      idempotencyKey: randomUUID(),
    });
    const key = randomUUID();
    const correlationId = randomUUID();
    const rest = await ada.post('/v1/agents/enroll', { ...body, idempotencyKey: key, correlationId });
    const flags = ['--idempotency-key', key, '--correlation-id', correlationId, '--json', '--input', '-'];
    const cli = await run(['agent', 'enroll', ...flags], JSON.stringify(body));
    expect(json(cli.stdout).data).toEqual(rest.data);
    expect(json(cli.stdout)).toMatchObject({ correlationId, replayed: true });
    const { id } = (rest.data as { agent: { id: string } }).agent; // as agent.enroll declares
    const path = `/v1/agents/${id}/enrollment`;
    const got = await run(['agent', 'enrollment', 'get', '--agentId', id, '--correlation-id', correlationId, '--json']);
    expect(got.stdout).toBe(`${(await ada.get(path, { 'x-correlation-id': correlationId })).text}\n`);
  });
});
