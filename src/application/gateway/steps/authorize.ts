import { refuse } from '../../../domain/kernel/refusal.js';
import { mayCall } from '../../operation/authorization.js';
import type { Step } from '../step.js';

/** Refuses callers whose scopes or role do not allow the operation. */
export const authorize: Step = {
  name: 'authorize',
  run: ({ caller, operation }) => (mayCall(caller, operation) ? undefined : refuse('authorization_refused')),
};
