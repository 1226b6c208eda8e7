import type { Operation } from '../../application/operation/operation.js';
import { readSecret } from './private-input.js';
import { send } from './send.js';
import { checkedUrl, saveSettings, settingsFile } from './settings.js';
import { UsageError } from './usage-error.js';

/** Asks for a key, tries it with `me.get`, and keeps it for later calls. */
export async function login(
  me: Operation,
  { url, keyFile }: { readonly url: string; readonly keyFile?: string | undefined },
  say: (line: string) => void,
): Promise<void> {
  const settings = { url: checkedUrl(url), key: await readSecret('API key', keyFile) };
  const { status } = await send(me, {}, settings, {});
  if (status === 401) throw new UsageError('The server does not know this key.');
  // A key without the scope to read its user is a key all the same.
  if (status !== 200 && status !== 403) throw new UsageError(`${settings.url} does not answer as it should.`);
  const file = settingsFile(process.env);
  saveSettings(file, settings);
  say(`The key for ${settings.url} is kept in ${file}.`);
}
