import { administratorId, issueAdministratorKey } from './application/administrator.js';
import { newId } from './application/ids.js';
import { makeKeyMaker, purposeKey } from './application/keys.js';
import { systemStreams } from './application/system-work.js';
import { makeContainer, T, type Backends } from './container.js';
import type { Config } from './infrastructure/config.js';
import { StartupError } from './infrastructure/embedded/startup-error.js';
import { makeLog } from './infrastructure/log.js';
import { startBackends } from './serve.js';

type Say = (line: string) => void;

export const migrateOnly = (config: Config, say: Say): Promise<void> =>
  withBackends(config, say, async ({ container }) => {
    await container.getAsync(T.database);
    say('The database is up to date.');
  });

/** Another key for the administrator; only the key goes to standard output. */
export const printAdministratorKey = (config: Config, say: Say, complain: Say): Promise<void> =>
  withBackends(config, complain, async ({ container }, { kek }) => {
    const system = await container.getAsync(T.system);
    const streams = systemStreams(system, administratorId, newId('key', new Date()));
    const key = await issueAdministratorKey(streams, makeKeyMaker(purposeKey(kek, 'api keys')), new Date());
    if (key === undefined) throw new StartupError('There is no administrator yet: start the server once.');
    say(key);
  });

async function withBackends(
  config: Config,
  say: Say,
  work: (wired: ReturnType<typeof makeContainer>, backends: Backends) => Promise<void>,
): Promise<void> {
  const { backends, stop } = await startBackends(config, 'all', say);
  try {
    const wired = makeContainer(config, backends, makeLog({ level: 'warn', fd: 2 }));
    try {
      await work(wired, backends);
    } finally {
      await wired.close();
    }
  } finally {
    await stop();
  }
}
