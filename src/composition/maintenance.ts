import { administratorId, issueAdministratorKey } from '../application/access/administrator.js';
import { newId } from '../application/kernel/ids.js';
import type { Services } from './bind.js';
import { makeContainer } from './container.js';
import { T, type Backends } from './tokens.js';
import type { Config } from '../infrastructure/config.js';
import { StartupError } from '../infrastructure/startup-error.js';
import { makeLogger } from '../infrastructure/logger.js';
import { addKek, dropOldKeks } from '../infrastructure/secrets.js';
import type { KekRing } from '../infrastructure/vault/kek-ring.js';
import { rotateKek } from '../infrastructure/vault/rotate.js';
import { startBackends } from './serve.js';

type Say = (line: string) => void;

export const migrateOnly = (config: Config, say: Say): Promise<void> =>
  withBackends(config, say, async (services) => {
    await services.get(T.database);
    say('The database is up to date.');
  });

/** Another key for the administrator; only the key goes to standard output. */
export const printAdministratorKey = (config: Config, say: Say, complain: Say): Promise<void> =>
  withBackends(config, complain, async (services) => {
    const [tenants, apiKeys] = [await services.get(T.tenants), await services.get(T.apiKeys)];
    const { aggregates } = tenants.ofSystem(administratorId, newId('key', new Date()));
    const key = await issueAdministratorKey(aggregates, apiKeys, new Date());
    if (key === undefined) throw new StartupError('There is no administrator yet: start the server once.');
    say(key);
  });

/** Binds this installation to the event log that EVENTSTORE_URL leads to, whatever it was bound to. */
export const adoptLog = (config: Config, say: Say, complain: Say): Promise<void> =>
  withBackends(config, complain, async (services) => {
    const { guard } = await services.get(T.logGuard);
    say(
      `This installation now belongs to log ${await guard.adopt()}. Its read models are built from it at the next start.`,
    );
  });

/** Rewraps everything under the current KEK; a home that keeps its own keys is given a new one first. */
export async function rotateVault(config: Config, say: Say, complain: Say): Promise<void> {
  const isKept = config.keks === undefined;
  // Added once the home is locked by whoever starts the backends, so that no server runs with fewer keys.
  const addKey = () => (isKept ? addKek(config.home) : undefined);
  await withBackends(
    config,
    complain,
    async (services, { keks }) => {
      const [{ system }, kms] = [await services.get(T.database), await services.get(T.kms)];
      const { kek, credentials, personalDataKeys } = await rotateKek(system, keks, kms);
      say(
        `Everything is wrapped with key ${kek}: ${credentials} credentials and ${personalDataKeys} data keys were not.`,
      );
    },
    addKey,
  );
  if (isKept) dropOldKeks(config.home);
}

async function withBackends(
  config: Config,
  say: Say,
  work: (services: Services, backends: Backends) => Promise<void>,
  otherKeks: () => KekRing | undefined = () => undefined,
): Promise<void> {
  const { backends: started, stop } = await startBackends(config, 'all', say);
  try {
    const backends = { ...started, keks: otherKeks() ?? started.keks };
    const services = makeContainer(config, backends, makeLogger({ level: 'warn', fd: 2 }));
    try {
      await work(services, backends);
    } finally {
      await services.close();
    }
  } finally {
    await stop();
  }
}
