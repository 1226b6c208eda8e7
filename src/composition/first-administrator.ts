import { administratorId, ensureAdministrator } from '../application/access/administrator.js';
import { BackendUnavailable, LogMismatch } from '../application/faults/errors.js';
import { repeatEvery } from '../application/kernel/concurrency/repeat-every.js';
import { derivedUuid } from '../application/kernel/ids.js';
import type { Config } from '../infrastructure/config.js';
import { adminKeyFile, removeFile, setAside, writePrivate } from '../infrastructure/secrets.js';
import type { Services } from './bind.js';
import { T } from './tokens.js';

const retryEveryMs = 2_000;

/**
 * Makes the first administrator, whose key is written to this home. Where the event log is not the one that the other
 * backends belong to, that waits until it is: meanwhile the process serves, not ready, and makes nothing.
 */
export async function startFirstAdministrator(config: Config, services: Services): Promise<{ stop(): void }> {
  const stopped = new AbortController();
  try {
    await makeAdministrator(config, services);
  } catch (fault) {
    if (!(fault instanceof LogMismatch)) throw fault;
    void retry(config, services, stopped);
  }
  return { stop: () => stopped.abort() };
}

async function retry(config: Config, services: Services, stopped: AbortController): Promise<void> {
  const logger = await services.get(T.logger);
  await repeatEvery(retryEveryMs, stopped.signal, async () => {
    try {
      await makeAdministrator(config, services);
      stopped.abort();
    } catch (fault) {
      if (!(fault instanceof BackendUnavailable)) logger.error({}, 'The administrator could not be made.');
    }
  });
}

async function makeAdministrator({ home }: Config, services: Services): Promise<void> {
  const [tenants, apiKeys] = await Promise.all([services.get(T.tenants), services.get(T.apiKeys)]);
  const file = adminKeyFile(home);
  const { aggregates } = tenants.ofSystem(administratorId, derivedUuid('administrator'));
  await ensureAdministrator(aggregates, apiKeys, {
    write(key) {
      setAside(file);
      writePrivate(file, `${key}\n`);
    },
    remove: () => removeFile(file),
  });
}
