import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseEndpoints, type Endpoints } from './llm/endpoints.js';
import { StartupError } from './startup-error.js';
import { makeKekRing, parseKek, type Kek, type KekRing } from './vault/kek-ring.js';

const url = (...schemes: readonly string[]) =>
  z
    .string()
    .refine((value) => schemes.some((scheme) => value.startsWith(`${scheme}://`)) && URL.canParse(value), {
      error: `must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    })
    .optional();

const kekForm = 'must be 32 bytes in base64, with "number:" before it unless it is the first';

const kek = z
  .string()
  .transform((text, context) => parseKek(text) ?? notAKek(context))
  .optional();

const keks = z
  .string()
  .transform((list, context) => list.split(',').map((text) => parseKek(text) ?? notAKek(context)))
  .optional();

function notAKek(context: z.RefinementCtx): never {
  context.addIssue({ code: 'custom', message: kekForm });
  return z.NEVER;
}

const modelUrls = z
  .string()
  .transform((text, context) => parseEndpoints(text) ?? notEndpoints(context))
  .optional();

function notEndpoints(context: z.RefinementCtx): never {
  context.addIssue({ code: 'custom', message: 'must be provider=URL pairs, with commas between, over https' });
  return z.NEVER;
}

const port = z
  .string()
  .regex(/^\d{1,5}$/, { error: 'must be a port from 0 to 65535' })
  .transform(Number)
  .refine((number) => number <= 65535, { error: 'must be a port from 0 to 65535' });

const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: port.default(4700),
  PALIMPSEST_PROBES_PORT: port.default(0),
  PALIMPSEST_HOME: z.string().min(1).default('.palimpsest'),
  EVENTSTORE_URL: url('esdb', 'esdb+discover', 'kurrentdb', 'kurrentdb+discover'),
  DATABASE_URL: url('postgres', 'postgresql'),
  REDIS_URL: url('redis', 'rediss').refine(
    // The driver would ask the server for whatever stands there, and throw where nobody can catch it.
    (value) => value === undefined || !URL.canParse(value) || /^\/?\d*$/.test(new URL(value).pathname),
    'names a database by a number',
  ),
  PALIMPSEST_KEK: kek,
  PALIMPSEST_KEK_OTHERS: keks,
  PALIMPSEST_KMS_URL: url('https', 'http'),
  PALIMPSEST_KMS_KEY: z
    .string()
    .regex(/^[\w.-]{1,128}$/, { error: 'must be the name of a key' })
    .default('palimpsest'),
  PALIMPSEST_KMS_TOKEN_FILE: z.string().min(1).optional(),
  PALIMPSEST_HARNESSES: z.string().min(1).optional(),
  PALIMPSEST_MODEL_URLS: modelUrls,
  MCP_HOSTS: z
    .string()
    .regex(/^[\w.-]+(,[\w.-]+)*$/, { error: 'must be host names without ports, with commas between' })
    .optional(),
  PALIMPSEST_CRASH_AT: z
    .string()
    .regex(/^(trace|(before|after):[\w.()]+(#\d+)?)$/, { error: 'must be "trace" or name a crash point' })
    .optional(),
  NODE_ENV: z.string().optional(),
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'], { error: 'must be debug, info, warn, error or silent' })
    .default('info'),
});

/** The settings of a process (docs/operations.md). Unset URLs are served by embedded backends. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Where a process without a door has its probes; 0 takes a free port. */
  readonly probesPort: number;
  readonly home: string;
  readonly eventstoreUrl: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  /** Undefined: those kept in the home. */
  readonly keks: KekRing | undefined;
  /** A KMS that wraps credentials' data keys in place of the local KEK. */
  readonly kms?: { readonly url: string; readonly key: string; readonly tokenFile: string } | undefined;
  /** JSON file with harnesses of the team's own. */
  readonly harnessFile?: string | undefined;
  /** Where model providers are, beside those that are known. */
  readonly modelEndpoints?: Endpoints | undefined;
  /** Names under which MCP clients reach this server, beside HOST and those of loopback. */
  readonly mcpHosts?: readonly string[];
  /** Where this process dies, for tests of crashes (infrastructure/crash-points.ts). Only with NODE_ENV=test. */
  readonly crashAt?: string | undefined;
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
  if (data.PALIMPSEST_CRASH_AT !== undefined && data.NODE_ENV !== 'test') {
    throw new StartupError('PALIMPSEST_CRASH_AT is for tests of crashes only: it needs NODE_ENV=test.');
  }
  return {
    host: data.HOST,
    port: data.PORT,
    probesPort: data.PALIMPSEST_PROBES_PORT,
    home: data.PALIMPSEST_HOME,
    eventstoreUrl: data.EVENTSTORE_URL,
    databaseUrl: data.DATABASE_URL,
    redisUrl: data.REDIS_URL,
    keks: data.PALIMPSEST_KEK && ringOf(data.PALIMPSEST_KEK, data.PALIMPSEST_KEK_OTHERS ?? []),
    kms: kmsOf(data.PALIMPSEST_KMS_URL, data.PALIMPSEST_KMS_KEY, data.PALIMPSEST_KMS_TOKEN_FILE),
    harnessFile: data.PALIMPSEST_HARNESSES,
    modelEndpoints: data.PALIMPSEST_MODEL_URLS,
    mcpHosts: data.MCP_HOSTS?.split(',') ?? [],
    crashAt: data.PALIMPSEST_CRASH_AT,
    logLevel: data.LOG_LEVEL,
  };
}

function ringOf(current: Kek, others: readonly Kek[]): KekRing {
  try {
    return makeKekRing(current, others);
  } catch {
    throw new StartupError('PALIMPSEST_KEK_OTHERS holds a number twice, or that of PALIMPSEST_KEK.');
  }
}

function kmsOf(kmsUrl: string | undefined, key: string, tokenFile: string | undefined): Config['kms'] {
  if (kmsUrl === undefined) return undefined;
  const { protocol, hostname } = new URL(kmsUrl);
  if (protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) {
    throw new StartupError('PALIMPSEST_KMS_URL must begin with https:// unless it is on this machine.');
  }
  if (tokenFile === undefined)
    throw new StartupError('PALIMPSEST_KMS_TOKEN_FILE must be set when PALIMPSEST_KMS_URL is.');
  if (!isReadableText(tokenFile)) throw new StartupError('PALIMPSEST_KMS_TOKEN_FILE cannot be read, or is empty.');
  return { url: kmsUrl, key, tokenFile };
}

/** The token itself is read where it is used: it may be renewed meanwhile. */
function isReadableText(file: string): boolean {
  try {
    return readFileSync(file, 'utf8').trim() !== '';
  } catch {
    return false;
  }
}
