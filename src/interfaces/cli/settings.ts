import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { UsageError } from './usage-error.js';

/** Which server to call, and as whom. */
export interface Settings {
  readonly url: string;
  readonly key: string | undefined;
}

const saved = z.strictObject({ url: z.string(), key: z.string() });
const defaultUrl = 'http://127.0.0.1:4700';

/** Where `login` keeps its settings. */
export const settingsFile = (env: NodeJS.ProcessEnv): string =>
  env['PALIMPSEST_CONFIG'] ?? join(env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'palimpsest', 'config.json');

/** Flags win over the environment, which wins over the file. A key is used only with the server it was saved for. */
export function settingsFrom(
  flags: { readonly url?: string | undefined; readonly key?: string | undefined },
  env: NodeJS.ProcessEnv,
): Settings {
  const file = readSettings(settingsFile(env));
  const url = checkedUrl(flags.url ?? env['PALIMPSEST_URL'] ?? file?.url ?? defaultUrl);
  return { url, key: flags.key ?? env['PALIMPSEST_KEY'] ?? (file?.url === url ? file.key : undefined) };
}

export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new UsageError('The URL must begin with http:// or https:// and hold no password.');
  }
  return url.origin;
}

function readSettings(file: string): z.output<typeof saved> | undefined {
  let text: string;
  try {
    // Others could read it, or have written it.
    if ((statSync(file).mode & 0o077) !== 0) throw new UsageError(`${file} must have mode 0600: it holds a key.`);
    text = readFileSync(file, 'utf8');
  } catch (fault) {
    if (fault instanceof UsageError) throw fault;
    return undefined;
  }
  try {
    return saved.parse(JSON.parse(text));
  } catch {
    throw new UsageError(`${file} is not what login wrote: log in again.`);
  }
}

/** Keeps a key for a server, readable for its owner only. */
export function saveSettings(file: string, settings: { readonly url: string; readonly key: string }): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const staged = `${file}.${process.pid}.tmp`;
  writeFileSync(staged, `${JSON.stringify(settings)}\n`, { mode: 0o600 });
  chmodSync(staged, 0o600);
  renameSync(staged, file);
}
