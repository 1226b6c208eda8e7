import type { z } from 'zod';
import { refuse, type Issue, type Refusal } from '../../domain/kernel/refusal.js';

/** Levels of nesting that an input may have. */
export const maxDepth = 64;
/** Issues that an answer names at most. */
export const maxIssues = 20;

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

/** No NUL, no half of a surrogate pair, no bottomless nesting: stores would refuse or change them. */
export function textGate(value: unknown, path: readonly string[] = [], depth = 0): Issue | undefined {
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

export function issuesOf(issue: z.core.$ZodIssue): readonly Issue[] {
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
