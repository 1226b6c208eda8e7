import { startEmbedded } from './embedded.js';
import { runEventStoreProcess, type Database, type Environment } from './eventstore/process.js';

/** Where clients look for an event store unless another address is given. */
const USUAL_PORT = '2113';

/** What the command line says; each wins over the variable of the environment that it is an option for. */
export interface AloneOptions {
  readonly host?: string;
  readonly port?: string;
  readonly data?: string;
  readonly schema?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly username?: string;
  readonly passwordFile?: string;
}

/**
 * Serves an event store alone until SIGTERM: in the Postgres of DATABASE_URL, or else in one of its own, whose data
 * lies in the home. A home that is named in the options wins over DATABASE_URL.
 */
export function runEventStoreAlone(options: AloneOptions, environment: Environment): Promise<void> {
  const env: Environment = {
    EVENTSTORE_PORT: USUAL_PORT,
    ...filled(environment),
    ...filled({
      EVENTSTORE_HOST: options.host,
      EVENTSTORE_PORT: options.port,
      EVENTSTORE_SCHEMA: options.schema,
      EVENTSTORE_TLS_CERT_FILE: options.tlsCert,
      EVENTSTORE_TLS_KEY_FILE: options.tlsKey,
      EVENTSTORE_USERNAME: options.username,
      EVENTSTORE_PASSWORD_FILE: options.passwordFile,
    }),
  };
  if (options.data === undefined && env['DATABASE_URL'] !== undefined) return runEventStoreProcess(env);
  return runEventStoreProcess(env, () => ownPostgres(options.data ?? env['PALIMPSEST_HOME'] ?? '.palimpsest'));
}

/** An empty variable is an unset one. */
const filled = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));

async function ownPostgres(home: string): Promise<Database> {
  const { databaseUrl, stop } = await startEmbedded({
    home,
    need: { postgres: true, redis: false, eventstore: false },
    log: (line) => process.stderr.write(`${JSON.stringify({ msg: line })}\n`),
  });
  if (databaseUrl === undefined) throw new Error('Postgres was not started.');
  return { url: databaseUrl, stop };
}
