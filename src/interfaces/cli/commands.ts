import { Command, Option } from 'commander';
import { inputSchema, type Schema } from '../../application/operation/json-schema.js';
import type { Operation } from '../../application/operation/operation.js';
import { fieldsOf, type Field } from './fields.js';
import { runOperation, type CommonFlags } from './run-operation.js';

/**
 * Adds every operation to the command line: `scratchpad.entry.append` is `scratchpad entry append`. Flags are the fields
 * of its input; only families that the arguments name are worked out in full.
 */
export function addOperations(program: Command, operations: readonly Operation[], args: readonly string[]): void {
  for (const operation of operations) {
    addCommand(program, operation, operation.name, args);
    // A renamed operation keeps its former command for one release.
    if (operation.recordedAs !== undefined) addCommand(program, operation, operation.recordedAs, args);
  }
}

function addCommand(program: Command, operation: Operation, name: string, args: readonly string[]): void {
  const words = name.split('.');
  const parent = words.slice(0, -1).reduce(groupIn, program);
  const command = parent.command(words.at(-1) ?? '', { hidden: name !== operation.name });
  command.description(operation.summary);
  if (words[0] !== undefined && args.includes(words[0])) addFlags(command, operation);
}

/** `--threadId` is `--thread-id`, so that a field can be named as it is in the API. */
export const kebabFlags = (args: readonly string[]): string[] =>
  args.map((arg) => {
    const [, flag, rest] = /^(--[\w.-]*)(.*)$/s.exec(arg) ?? [];
    return flag === undefined ? arg : kebab(flag) + (rest ?? '');
  });

const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const groupIn = (parent: Command, word: string): Command =>
  parent.commands.find((one) => one.name() === word) ?? parent.command(word).description(`operations of ${word}`);

function addFlags(command: Command, operation: Operation): void {
  const schema = inputSchema(operation);
  const fields = fieldsOf(schema);
  const given = new Map<Field, string[]>();
  for (const field of fields) {
    // Values are taken by the parser as they come, so that nothing is lost when two fields have like names.
    command.addOption(
      flagOf(field).argParser((word: string) => {
        given.set(field, [...(given.get(field) ?? []), word]);
        return word;
      }),
    );
  }
  command
    .option('--input <file>', 'the whole input as JSON, from a file or - for standard input; flags win over it')
    .option('--json', 'print the envelope, exactly, and nothing else')
    .option('--url <url>', 'the server; else PALIMPSEST_URL, else what login saved')
    .option('--key <key>', 'the API key; better PALIMPSEST_KEY or login, which other users do not see');
  if (fields.some(({ secret }) => secret)) {
    command.option('--secret-file <file>', 'where the secret is read from; else standard input, or a prompt');
  }
  if (operation.tool) {
    command.option('--scratchpad <id>', 'what to act on; else PALIMPSEST_SCRATCHPAD, or what the key is bound to');
  }
  if (operation.etag) command.option('--if-match <revision>', 'only if this is still the revision, like "r7"');
  command.action(async () => {
    // Commander gives options by their names, which are those that were declared above.
    process.exitCode = await runOperation(operation, schema, given, command.opts<CommonFlags>());
  });
}

function flagOf(field: Field): Option {
  const flag = new Option(`--${kebab(field.path.join('.'))} <${typeOf(field.schema)}>`, textOf(field));
  return field.secret ? flag.hideHelp() : flag;
}

const textOf = ({ path, schema, required }: Field): string =>
  [
    schema.description,
    path[0] === 'idempotencyKey' ? '(made when it is not given)' : required ? '(required)' : undefined,
    schema.default === undefined || schema.default === null
      ? undefined
      : `(default: ${JSON.stringify(schema.default)})`,
  ]
    .filter((part) => part !== undefined)
    .join(' ');

function typeOf(schema: Schema): string {
  const choices = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (choices) return choices.join('|');
  if (schema.type === 'array') return 'value, repeatable';
  if (typeof schema.type === 'string') return schema.type === 'object' ? 'json' : (schema.format ?? schema.type);
  const inner = schema.anyOf?.find((one) => typeof one === 'object' && one.type !== 'null');
  return typeof inner === 'object' && schema.oneOf === undefined ? typeOf(inner) : 'json';
}
