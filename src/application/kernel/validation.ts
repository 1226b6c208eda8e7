import { z } from 'zod';
import { refuse, type Issue, type Refusal } from '../../domain/kernel/refusal.js';
import type { Operation } from '../operation/operation.js';
import { isIdSchema } from './schemas.js';

/** Levels of nesting that an input may have. */
export const maxDepth = 64;
/** Issues that an answer names at most. */
export const maxIssues = 20;

/** The shared fields of an input that belong to the envelope and not to the operation. */
export const envelopeFields = ['idempotencyKey', 'correlationId'] as const;

/** The input as callers send it: the operation's own fields and the envelope's. For API documents and tool lists. */
export const publicInput = ({ input, kind, requiresIdempotencyKey }: Operation): z.ZodObject => {
  const own = (field: string) => field in input.shape;
  return input.extend({
    ...(kind === 'command' &&
      !own('idempotencyKey') && {
        idempotencyKey: requiresIdempotencyKey ? idempotencyKey : idempotencyKey.optional(),
      }),
    ...(!own('correlationId') && { correlationId: correlationId.optional() }),
  });
};

const idempotencyKey = z
  .uuid()
  .meta({ description: 'The same key makes a retry harmless: the recorded outcome is answered again.' });
const correlationId = z.uuid().meta({ description: 'Returned in the reply and in every event of the command.' });

/**
 * Checks an input against the operation's schema. A malformed id is answered as a missing resource is: what else is wrong is
 * told first, and by itself.
 */
export function parseInput(
  operation: Operation,
  raw: unknown,
): { readonly input: unknown } | Refusal<'validation_failed' | 'not_found'> {
  const gate = gateBesideIds(operation, raw);
  if (gate) return invalid([gate]);
  const parsed = operation.input.safeParse(raw);
  if (parsed.success) return { input: parsed.data };
  const issues = parsed.error.issues.filter(({ code, path }) => code !== 'invalid_format' || !namesId(operation, path));
  return issues.length === 0 ? refuse('not_found') : invalid(issues.flatMap(issuesOf));
}

/** Text that no store takes, but in an id: there it is one more form that no id has. */
function gateBesideIds(operation: Operation, raw: unknown): Issue | undefined {
  const gate = textGate(raw, [], 0);
  if (!gate || !namesId(operation, gate.param.split('.'))) return gate;
  // It was found in a field of that name, so the input is an object.
  return gateBesideIds(operation, { ...(raw as object), [gate.param]: undefined });
}

/** Checks a part of an input against a schema that depends on another part. */
export function checkAt(
  param: string,
  schema: z.ZodObject,
  raw: unknown,
): { readonly input: Readonly<Record<string, unknown>> } | Refusal<'validation_failed'> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return { input: parsed.data };
  return invalid(
    parsed.error.issues
      .flatMap(issuesOf)
      .map((issue) => ({ ...issue, param: [param, issue.param].filter(Boolean).join('.') })),
  );
}

export function invalid(issues: readonly Issue[]): Refusal<'validation_failed'> {
  const [first] = issues;
  return refuse('validation_failed', undefined, {
    issues: issues.slice(0, maxIssues),
    ...(first && { param: first.param }),
  });
}

const namesId = ({ input }: Operation, path: readonly PropertyKey[]): boolean =>
  path.length === 1 && isIdSchema(input.shape[String(path[0])]);

/** No NUL, no half of a surrogate pair, no bottomless nesting: stores would refuse or change them (M10, M14). */
function textGate(value: unknown, path: readonly string[], depth: number): Issue | undefined {
  if (typeof value === 'string') {
    return value.includes('\u0000') || !value.isWellFormed()
      ? { param: path.join('.'), rule: 'must be well-formed text without NUL' }
      : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= maxDepth) return { param: path.slice(0, 3).join('.'), rule: `at most ${maxDepth} levels deep` };
  for (const [name, member] of Object.entries(value)) {
    const issue =
      (Array.isArray(value) ? undefined : textGate(name, [...path, '(name)'], depth)) ??
      textGate(member, [...path, Array.isArray(value) ? name : nameable(name)], depth + 1);
    if (issue) return issue;
  }
  return undefined;
}

/**
 * Fields are named in answers, values never are: what does not look like a field's name is not repeated. Keys and tokens
 * have digits or dashes in them, fields have not.
 */
export const nameable = (name: PropertyKey): string =>
  typeof name === 'number' || /^[A-Za-z_]{1,32}$/.test(String(name)) ? String(name) : '(name)';

function issuesOf(issue: z.core.$ZodIssue): readonly Issue[] {
  const at = issue.path.map(nameable);
  const param = at.join('.');
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys
        .slice(0, maxIssues)
        .map((key) => ({ param: [...at, nameable(key)].join('.'), rule: 'unknown field' }));
    case 'invalid_type':
      return [{ param, rule: `must be ${article(issue.expected)}` }];
    case 'invalid_value':
      return [{ param, rule: `must be one of ${issue.values.map(String).join(', ')}` }];
    case 'too_big':
      return [{ param, rule: `at most ${issue.maximum}` }];
    case 'too_small':
      return [{ param, rule: `at least ${issue.minimum}` }];
    case 'invalid_format':
      return [
        { param, rule: issue.format === 'regex' ? 'does not have the required form' : `must be a ${issue.format}` },
      ];
    case 'custom':
      return [{ param, rule: issue.message }];
    case 'invalid_union':
    case 'invalid_key':
    case 'invalid_element':
    case 'not_multiple_of':
      return [{ param, rule: 'does not have the required form' }];
  }
}

const article = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
