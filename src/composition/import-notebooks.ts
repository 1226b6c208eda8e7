import { BackendUnavailable } from '../application/faults/errors.js';
import { StartupError } from '../infrastructure/startup-error.js';
import { openOldNotebooks } from '../infrastructure/redis/old-notebooks.js';
import { importNotebooks } from '../interfaces/cli/import-notebooks.js';
import { readMap } from '../interfaces/cli/notebook-map.js';
import { readText } from '../interfaces/cli/private-input.js';
import { settingsFrom } from '../interfaces/cli/settings.js';
import { UsageError } from '../interfaces/cli/usage-error.js';

interface Options {
  readonly redis: string;
  readonly map: string;
  readonly dryRun?: boolean;
  readonly url?: string;
  readonly key?: string;
}

/** Imports, tells each step, prints the counts as JSON, and answers the exit code: 1 when notebooks had to stay. */
export async function runImport(
  { redis, map: file, dryRun = false, ...flags }: Options,
  print: (line: string) => void,
  report: (line: string) => void,
): Promise<number> {
  if (!/^rediss?:\/\//.test(redis) || !URL.canParse(redis)) {
    throw new UsageError('--redis must be a URL that begins with redis:// or rediss://.');
  }
  const settings = settingsFrom(flags, process.env);
  const map = readMap(await readText(file, '--map'), file);
  const notebooks = await openOldNotebooks(redis).catch((fault: unknown) => {
    throw fault instanceof BackendUnavailable ? new StartupError('The Redis of the notebooks does not answer.') : fault;
  });
  try {
    const counts = await importNotebooks({ notebooks, map, settings, dryRun, report });
    print(JSON.stringify({ ...counts, dryRun }));
    return counts.conflicts + counts.failed > 0 ? 1 : 0;
  } finally {
    notebooks.close();
  }
}
