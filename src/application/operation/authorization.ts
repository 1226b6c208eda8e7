import { refuse, type Refusal } from '../../domain/kernel/refusal.js';
import type { Caller } from '../access/caller.js';
import type { Operation } from './operation.js';

/** Answers whether this key may call the operation, as far as its scopes and its owner's role go. */
export const mayCall = (caller: Caller, { scope, roles }: Operation): boolean =>
  caller.scopes.has(scope) && (roles === undefined || roles.includes(caller.role));

/** Answers whether there is any input with which the gateway runs the operation for this key. Doors need offer no other. */
export const isOpenTo = (caller: Caller, operation: Operation): boolean =>
  mayCall(caller, operation) && bindingAllows(caller, operation);

/** Answers whether a key's binding, if it has one, allows an operation: a tool, or one that names a scratchpad. */
export const bindingAllows = ({ pad }: Caller, { input: { shape }, actsAs, tool }: Operation): boolean =>
  !pad || ((actsAs === undefined || actsAs === pad.role) && (tool !== undefined || 'scratchpadId' in shape));

/** Refuses what a bound key may not do: act on another pad than its own, or in another role. */
export function checkBinding(
  caller: Caller,
  operation: Operation,
  input: unknown,
): Refusal<'authorization_refused' | 'not_found'> | undefined {
  if (!bindingAllows(caller, operation)) return refuse('authorization_refused');
  if (!caller.pad || operation.tool) return undefined;
  // The input was parsed by the operation's schema, which has this field.
  const { scratchpadId } = input as { readonly scratchpadId?: string };
  return scratchpadId === caller.pad.scratchpadId ? undefined : refuse('not_found');
}
