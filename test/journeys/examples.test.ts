import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startStack, type Stack } from '../support/stack.js';

const folder = join(__dirname, '../../examples');

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

describe('every example', () => {
  it.each(readdirSync(folder))('%s runs to its end', async (file) => {
    const { key } = await stack.user('Example');
    const env = { ...process.env, PALIMPSEST_URL: stack.url, PALIMPSEST_KEY: key };
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, file)], { env });
    expect(stdout).toContain('verified');
  });
});
