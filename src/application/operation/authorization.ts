import { bindingAllows } from '../gateway/steps/bind-scratchpad.js';
import type { Caller } from '../access/caller.js';
import type { Operation } from './operation.js';

/** May this key call the operation, as far as its scopes and its owner's role go? */
export const mayCall = (caller: Caller, { scope, roles }: Operation): boolean =>
  caller.scopes.has(scope) && (roles === undefined || roles.includes(caller.role));

/** Is there any input with which the gateway would run the operation for this key? What it is not, no door need offer. */
export const isOpenTo = (caller: Caller, operation: Operation): boolean =>
  mayCall(caller, operation) && bindingAllows(caller, operation);
