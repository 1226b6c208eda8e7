import { refuse, type Refusal, type RefusalCode } from '../../domain/kernel/refusal.js';
import type { Operation } from './operation.js';
import { publicInput } from './public-input.js';
import { isIdSchema } from '../kernel/schemas.js';

const always = ['validation_failed', 'authentication_failed', 'authorization_refused', 'internal_fault'] as const;

/** Every code that an operation is answered with, by its own decision or by the gateway's. */
export function codesOf(operation: Operation): ReadonlySet<RefusalCode> {
  const own = [...always, ...operation.refuses];
  if (operation.codes === 'closed') return new Set(own);
  const takesIds = Object.values(publicInput(operation).shape).some(isIdSchema);
  return new Set([
    ...own,
    'unavailable',
    ...(takesIds ? (['not_found'] as const) : []),
    ...(operation.kind === 'command' ? (['conflict'] as const) : []),
  ]);
}

/** Where the codes of an operation are closed, a "no" beyond them fails closed; when to try again is still reported. */
export const withinCodes = (operation: Operation, refusal: Refusal): Refusal =>
  operation.codes !== 'closed' || codesOf(operation).has(refusal.refused)
    ? refusal
    : refuse(
        'internal_fault',
        refusal.message,
        refusal.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: refusal.retryAfterSeconds },
      );
