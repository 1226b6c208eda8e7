import { z } from 'zod';
import type { Schema } from '../../application/operation/json-schema.js';
import type { Operation } from '../../application/operation/operation.js';
import { refusalCodes } from '../../domain/kernel/refusal.js';
import { statuses } from '../statuses.js';
import { completed, isObject, secretsLacking, setAt, valueOf, type Field } from './fields.js';
import { humanText } from './print.js';
import { readSecret, readText } from './private-input.js';
import { send, type Answer } from './send.js';
import { settingsFrom } from './settings.js';
import { UsageError } from './usage-error.js';

/** Options of every operation beside its own fields. */
export interface CommonFlags {
  readonly url?: string;
  readonly key?: string;
  readonly json?: boolean;
  readonly input?: string;
  readonly secretFile?: string;
  readonly ifMatch?: string;
  readonly scratchpad?: string;
}

/** Values of an operation's own flags, by their path. */
export type Given = ReadonlyMap<Field, readonly string[]>;

/** Calls an operation as the command line says, prints its answer, and answers the exit code. */
export async function runOperation(
  operation: Operation,
  schema: Schema,
  given: Given,
  flags: CommonFlags,
): Promise<number> {
  const input = await inputFrom(schema, given, flags);
  const scratchpad = operation.tool && (flags.scratchpad ?? process.env['PALIMPSEST_SCRATCHPAD']);
  const headers = {
    ...(flags.ifMatch !== undefined && { 'if-match': flags.ifMatch }),
    ...(scratchpad !== undefined && { 'palimpsest-scratchpad': scratchpad }),
  };
  const answer = await send(operation, input, settingsFrom(flags, process.env), headers);
  if (answer.lines) {
    for await (const chunk of answer.lines) process.stdout.write(chunk);
    return 0;
  }
  return flags.json ? showEnvelope(answer) : showForPeople(answer);
}

async function inputFrom(schema: Schema, given: Given, flags: CommonFlags): Promise<Record<string, unknown>> {
  const input = flags.input === undefined ? {} : objectOf(await readText(flags.input, '--input'));
  for (const [{ path, secret, schema: own }, words] of given) {
    const name = path.join('.');
    const value = secret ? undefined : valueOf(own, words);
    if (secret || (isObject(value) && containsSecret(own, value))) {
      throw new UsageError(`${name} is secret and no argument: give it on standard input, at the prompt or in a file.`);
    }
    setAt(input, path, value);
  }
  completed(schema, input);
  const lacking = secretsLacking(schema, input);
  for (const path of lacking) {
    if (flags.input === '-' && flags.secretFile === undefined) {
      throw new UsageError(`${path.join('.')} is missing in what --input gave.`);
    }
    setAt(input, path, await readSecret(path.join('.'), flags.secretFile));
  }
  return input;
}

/** Secret in any of the forms that the value could have. */
const containsSecret = (schema: Schema, value: Readonly<Record<string, unknown>>): boolean =>
  [schema, ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].some(
    (variant) =>
      typeof variant === 'object' &&
      Object.entries(variant.properties ?? {}).some(
        ([name, property]) => typeof property === 'object' && property.writeOnly === true && Object.hasOwn(value, name),
      ),
  );

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Reported below: the parser's own words would repeat the input.
  }
  throw new UsageError('--input must be a JSON object.');
}

const envelope = z.object({
  data: z.unknown().optional(),
  page: z.object({ nextCursor: z.string().nullable() }).optional(),
  replayed: z.boolean().optional(),
  correlationId: z.string().nullish(),
  error: z
    .looseObject({
      code: z.enum(refusalCodes),
      message: z.string(),
      issues: z.array(z.object({ param: z.string(), rule: z.string() })).optional(),
    })
    .optional(),
});

function showEnvelope({ text }: Answer): number {
  process.stdout.write(`${text}\n`);
  return exitCodeOf(text);
}

function showForPeople({ text }: Answer): number {
  const read = parsed(text);
  if (!read) {
    process.stderr.write('What answered is no Palimpsest.\n');
    return statuses.internal_fault.exit;
  }
  const { data, page, replayed, error, correlationId } = read;
  if (error) {
    const issues = (error.issues ?? []).map(({ param, rule }) => `\n  ${param}: ${rule}`).join('');
    const again = typeof error['idempotencyKey'] === 'string' ? `\n  --idempotency-key ${error['idempotencyKey']}` : '';
    const named = correlationId ? ` (${correlationId})` : '';
    process.stderr.write(`${error.code}: ${error.message}${named}${issues}${again}\n`);
    return statuses[error.code].exit;
  }
  process.stdout.write(`${humanText(data)}\n`);
  if (replayed) process.stderr.write('(answered again: this was done before)\n');
  if (page?.nextCursor) process.stderr.write(`(more: --cursor ${page.nextCursor})\n`);
  return 0;
}

function exitCodeOf(text: string): number {
  const read = parsed(text);
  if (!read) return statuses.internal_fault.exit;
  return read.error ? statuses[read.error.code].exit : 0;
}

function parsed(text: string): z.output<typeof envelope> | undefined {
  try {
    return envelope.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
