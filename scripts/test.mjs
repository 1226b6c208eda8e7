// `npm test`: from a fresh clone to a result. Arguments go to jest. The last line alone is "N passed, N failed".
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './ensure-installed.mjs';
import { run } from './run.mjs';

ensureInstalled();
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = mkdtempSync(join(tmpdir(), 'palimpsest-result-'));
const outputFile = join(folder, 'result.json');
const jest = join(root, 'node_modules/jest/bin/jest.js');
const code = await run(
  process.execPath,
  [jest, '--rootDir', root, '--json', '--outputFile', outputFile, ...process.argv.slice(2)],
  // With --json jest tells people what happens on stderr and repeats the file on stdout.
  { cwd: root, stdio: ['inherit', 'ignore', 'inherit'] },
);
export const { passed, failed } = counts();
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = code;

/** A suite that could not run counts as a failed test, and so does a run without a result. */
function counts() {
  try {
    const result = JSON.parse(readFileSync(outputFile, 'utf8'));
    return { passed: result.numPassedTests, failed: result.numFailedTests + result.numRuntimeErrorTestSuites };
  } catch {
    return { passed: 0, failed: code === 0 ? 0 : 1 };
  }
}
