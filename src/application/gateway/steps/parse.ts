import { isRefusal, refuse, type Issue, type Refusal } from '../../../domain/kernel/refusal.js';
import { isIdSchema } from '../../kernel/schemas.js';
import { invalid, issuesOf, textGate } from '../../kernel/validation.js';
import type { Operation } from '../../operation/operation.js';
import { checkEnvelope } from '../envelope.js';
import type { Step } from '../step.js';

/** Checks the envelope, then the input against the operation's schema. */
export const parse: Step = {
  name: 'parse',
  run(exchange) {
    const { request, sent, operation } = exchange;
    if (request.unreadable) return request.unreadable;
    const envelope = checkEnvelope(request, sent);
    if (isRefusal(envelope)) return envelope;
    const parsed = parseInput(operation, sent.rest);
    if (isRefusal(parsed)) return parsed;
    exchange.envelope = envelope;
    exchange.input = parsed.input;
    return undefined;
  },
};

/**
 * Checks an input against the operation's schema. A malformed id is answered as a missing resource is; other issues are
 * answered first, and alone.
 */
export function parseInput(
  operation: Operation,
  raw: unknown,
): { readonly input: unknown } | Refusal<'validation_failed' | 'not_found'> {
  const gate = gateOutsideIds(operation, raw);
  if (gate) return invalid([gate]);
  const parsed = operation.input.safeParse(raw);
  if (parsed.success) return { input: parsed.data };
  const issues = parsed.error.issues.filter(({ code, path }) => code !== 'invalid_format' || !namesId(operation, path));
  return issues.length === 0 ? refuse('not_found') : invalid(issues.flatMap(issuesOf));
}

/** Text that no store takes; in an id it is one more form that no id has. */
function gateOutsideIds(operation: Operation, raw: unknown): Issue | undefined {
  const gate = textGate(raw);
  if (!gate || !namesId(operation, gate.param.split('.'))) return gate;
  // It was found in a field of that name, so the input is an object.
  return gateOutsideIds(operation, { ...(raw as object), [gate.param]: undefined });
}

const namesId = ({ input }: Operation, path: readonly PropertyKey[]): boolean =>
  path.length === 1 && isIdSchema(input.shape[String(path[0])]);
