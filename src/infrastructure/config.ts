import { z } from 'zod';
import { StartupError } from './embedded/startup-error.js';

const url = (...schemes: readonly string[]) =>
  z
    .string()
    .refine((value) => schemes.some((scheme) => value.startsWith(`${scheme}://`)) && URL.canParse(value), {
      error: `must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    })
    .optional();

const kek = z
  .string()
  .regex(/^[A-Za-z0-9+/]{43}=$/, { error: 'must be 32 bytes in base64' })
  .transform((text) => Buffer.from(text, 'base64'))
  .optional();

const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, { error: 'must be a port from 0 to 65535' })
    .transform(Number)
    .refine((port) => port <= 65535, { error: 'must be a port from 0 to 65535' })
    .default(4700),
  PALIMPSEST_HOME: z.string().min(1).default('.palimpsest'),
  EVENTSTORE_URL: url('esdb', 'esdb+discover', 'kurrentdb', 'kurrentdb+discover'),
  DATABASE_URL: url('postgres', 'postgresql'),
  REDIS_URL: url('redis', 'rediss'),
  PALIMPSEST_KEK: kek,
  PALIMPSEST_HARNESSES: z.string().min(1).optional(),
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'], { error: 'must be debug, info, warn, error or silent' })
    .default('info'),
});

/** What the environment asks for (02-interfaces, "Start"). Unset URLs are served by embedded backends. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly home: string;
  readonly eventstoreUrl: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  /** 32 bytes; undefined: the one kept in the home. */
  readonly kek: Buffer | undefined;
  /** JSON file with harnesses of the team's own. */
  readonly harnessFile?: string | undefined;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
}

/** Throws StartupError with one line that names the variable, and never shows its value. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  // An empty variable is an unset one, as in `.env.example`.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new StartupError(`${issue?.path.join('.') ?? 'The environment'} ${issue?.message ?? 'is not valid'}.`);
  }
  const { data } = parsed;
  if (data.DATABASE_URL !== undefined && data.PALIMPSEST_KEK === undefined) {
    throw new StartupError('PALIMPSEST_KEK must be set (32 bytes in base64) when DATABASE_URL is.');
  }
  return {
    host: data.HOST,
    port: data.PORT,
    home: data.PALIMPSEST_HOME,
    eventstoreUrl: data.EVENTSTORE_URL,
    databaseUrl: data.DATABASE_URL,
    redisUrl: data.REDIS_URL,
    kek: data.PALIMPSEST_KEK,
    harnessFile: data.PALIMPSEST_HARNESSES,
    logLevel: data.LOG_LEVEL,
  };
}
