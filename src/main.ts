#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import { getMe } from './application/operations/user/get-me.js';
import { operations } from './application/registry.js';
import { readConfig } from './infrastructure/config.js';
import type { AloneOptions } from './infrastructure/embedded/eventstore-alone.js';
import { StartupError } from './infrastructure/startup-error.js';
import { makeLogger } from './infrastructure/logger.js';
import { adminKeyFile } from './infrastructure/secrets.js';
import { addOperations, kebabFlags } from './interfaces/cli/commands.js';
import { withoutValues } from './interfaces/cli/complaint.js';
import { failureLine } from './composition/failure-line.js';
import { UsageError } from './interfaces/cli/usage-error.js';
import type { Role } from './composition/roles.js';
import type { Serving } from './composition/serve.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

const program = new Command('palimpsest')
  .description('An event-sourced backend for teams that run LLM agents.')
  .showHelpAfterError('(--help tells more)')
  .configureOutput({ outputError: (complaint, write) => write(withoutValues(complaint)) })
  .exitOverride();

program
  .command('serve', { isDefault: true })
  .description('serve until SIGTERM')
  .addOption(
    new Option('--role <role>', 'what this process does').choices(['all', 'api', 'worker', 'projector']).default('all'),
  )
  .action(async ({ role }: { role: Role }) => {
    const asked = askedToStop();
    const { serving, stop } = await started(role);
    announce(serving, role);
    await asked;
    await stop();
    process.exit(0);
  });

program
  .command('tour')
  .description('play the whole story over REST: against a running server, or one of its own')
  .option('--url <url>', 'the server to use')
  .option('--key-file <file>', "file with the administrator's key")
  .action(async ({ url, keyFile }: { url?: string; keyFile?: string }) => {
    const { tour } = await import('./interfaces/cli/tour.js');
    const config = readConfig(process.env);
    const running = url ?? (await answering(`http://${config.host}:${config.port}`));
    const own = running === undefined ? await started('all') : undefined;
    const { countPadKeys } = await import('./infrastructure/redis/count-keys.js');
    const { redisUrlOf } = await import('./infrastructure/embedded/redis.js');
    const key = keyFile ?? adminKeyFile(config.home);
    // The key lies in the home of the server that is toured; the home of this process may be another one.
    const redisUrl = own?.serving.backends.redisUrl ?? config.redisUrl ?? redisUrlOf(dirname(key));
    try {
      await tour({
        url: running ?? own?.serving.url ?? '',
        adminKey: readKey(key),
        ...(redisUrl !== undefined && { redisKeys: (id: string) => countPadKeys(redisUrl, id) }),
        print: say,
      });
    } finally {
      await own?.stop();
    }
  });

program
  .command('migrate')
  .description('bring the database up to this version')
  .action(async () => {
    const config = readConfig(process.env);
    const { migrateOnly } = await import('./composition/maintenance.js');
    await migrateOnly(config, say);
  });

program
  .command('admin-key')
  .description('issue another administrator key when the first is lost, and print it')
  .action(async () => {
    const config = readConfig(process.env);
    const { printAdministratorKey } = await import('./composition/maintenance.js');
    await printAdministratorKey(config, say, complain);
  });

program
  .command('adopt-log')
  .description('bind this installation to the event log that EVENTSTORE_URL leads to, whatever it was bound to before')
  .addHelpText(
    'after',
    `
A server refuses to work when the event log is another one than Postgres and Redis belong to, or an older copy of it.
Use this only when the former log will not come back: with every server stopped, it makes the new log's word count.
What the new log does not know is no longer shown, and is not removed; entries that only it knows are recorded as lost.`,
  )
  .requiredOption('--yes', 'that this is meant')
  .action(async () => {
    const config = readConfig(process.env);
    const { adoptLog } = await import('./composition/maintenance.js');
    await adoptLog(config, say, complain);
  });

program
  .command('vault')
  .description('the keys that wrap what is sealed')
  .command('rotate')
  .description('wrap every data key under the current PALIMPSEST_KEK; a home that keeps its own gets a new one')
  .action(async () => {
    const config = readConfig(process.env);
    const { rotateVault } = await import('./composition/maintenance.js');
    await rotateVault(config, say, complain);
  });

program
  .command('eventstore')
  .description('serve the embedded event store alone until SIGTERM')
  .option('--host <host>', 'where it listens; any but loopback needs TLS and credentials (EVENTSTORE_HOST, 127.0.0.1)')
  .option('--port <port>', 'its port, 0 for a free one (EVENTSTORE_PORT, 2113)')
  .option('--data <folder>', 'keep events in a Postgres of its own in there (DATABASE_URL, or else PALIMPSEST_HOME)')
  .option('--schema <name>', 'the Postgres schema, made when it is missing (EVENTSTORE_SCHEMA, eventstore)')
  .option('--tls-cert <file>', 'certificate, PEM (EVENTSTORE_TLS_CERT_FILE, plain)')
  .option('--tls-key <file>', 'its key, PEM (EVENTSTORE_TLS_KEY_FILE)')
  .option('--username <name>', 'who may use it, over TLS (EVENTSTORE_USERNAME, everyone who reaches it)')
  .option('--password-file <file>', 'a file that holds the password (EVENTSTORE_PASSWORD_FILE, EVENTSTORE_PASSWORD)')
  .action(async (options: AloneOptions) => {
    const { runEventStoreAlone } = await import('./infrastructure/embedded/eventstore-alone.js');
    await runEventStoreAlone(options, process.env);
  });

program
  .command('login')
  .description('keep an API key for the commands below: typed, on standard input, or in a file')
  .option('--url <url>', 'the server', process.env['PALIMPSEST_URL'] ?? 'http://127.0.0.1:4700')
  .option('--key-file <file>', 'a file that holds the key')
  .action(async (options: { url: string; keyFile?: string }) => {
    const { login } = await import('./interfaces/cli/login.js');
    await login(getMe, options, complain);
  });

program
  .command('audit-verify')
  .description('check an export of the audit trail, with nothing but the file: exit code 1 names what does not fit')
  .argument('<file>', 'what audit.export gave, one event a line; - for standard input')
  .option('--after <hash>', 'hash of the event before the first, for an export that begins in the middle')
  .option(
    '--head <hash>',
    'hash that the chain must end with, as audit.verify reported: shows that nothing was cut off',
  )
  .option('--json', 'print the report as JSON')
  .action(async (file: string, options: { after?: string; head?: string; json?: boolean }) => {
    const { printVerification } = await import('./interfaces/cli/verify-export.js');
    process.exitCode = await printVerification(file, options, say);
  });

program
  .command('import')
  .description('bring over what an older system kept')
  .command('notebooks')
  .description('old notebooks (scratchpad:{threadId}:notebook) into the content of scratchpads; can be run again')
  .requiredOption('--redis <url>', 'the Redis that holds the notebooks')
  .requiredOption('--map <file>', 'which notebook goes to which thread: JSON lines or CSV (docs/import-notebooks.md)')
  .option('--dry-run', 'look at everything, change nothing')
  .option('--url <url>', 'the server; else PALIMPSEST_URL, else what login saved')
  .option('--key <key>', 'the API key; better PALIMPSEST_KEY, login, or keyFile in the map')
  .action(async (options: { redis: string; map: string; dryRun?: boolean; url?: string; key?: string }) => {
    const { runImport } = await import('./composition/import-notebooks.js');
    process.exitCode = await runImport(options, say, complain);
  });

addOperations(program, operations, process.argv.slice(2));

async function started(role: Role): Promise<{ serving: Serving; stop: () => Promise<void> }> {
  const config = readConfig(process.env);
  const log = makeLogger({ level: config.logLevel, fd: 2 });
  const { serve } = await import('./composition/serve.js');
  const serving = await serve(config, role, log, complain);
  return { serving, stop: () => serving.stop() };
}

function announce({ url, probesUrl, adminKeyFile: file }: Serving, role: Role): void {
  if (url === undefined) return say(`Palimpsest ${role} is at work. Probes: ${probesUrl ?? ''}/readyz and /metrics`);
  const [where, key] =
    file === undefined
      ? [`The administrator's key lies where the first server made it: admin.key in its PALIMPSEST_HOME`, '…']
      : [`The administrator's key lies in ${file}`, `$(cat ${file})`];
  say(`
Palimpsest serves ${url}   (API document and page: ${url}/docs)
${where}

    ADMIN=${key}
    curl -s ${url}/v1/me -H "Authorization: Bearer $ADMIN"
    curl -s ${url}/v1/users -H "Authorization: Bearer $ADMIN" -H 'Content-Type: application/json' -d '{"name":"Ada"}'
    curl -s ${url}/v1/audit/events -H "Authorization: Bearer $ADMIN"

The whole story, step by step: npm run tour
`);
}

/** Resolves at the first signal, also one that comes while the server starts; a second one ends at once. */
function askedToStop(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(1);
        asked = true;
        resolve();
      });
    }
  });
}

async function answering(url: string): Promise<string | undefined> {
  try {
    return (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1_000) })).ok ? url : undefined;
  } catch {
    return undefined;
  }
}

function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new StartupError('The key cannot be read: name the file of an administrator’s key with --key-file.');
  }
}

program.parseAsync([...process.argv.slice(0, 2), ...kebabFlags(process.argv.slice(2))]).catch((fault: unknown) => {
  // The parser has said what is wrong, or shown what was asked for.
  if (fault instanceof CommanderError) process.exit(fault.exitCode === 0 ? 0 : 2);
  complain(failureLine(fault));
  process.exit(fault instanceof UsageError ? 2 : 1);
});
