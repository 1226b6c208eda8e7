import { refuse, type Refusal } from '../../../domain/kernel/refusal.js';
import type { PadRole } from '../../../domain/kernel/roles.js';
import type { Caller } from '../../access/caller.js';
import { idPattern } from '../../kernel/ids.js';
import type { Operation } from '../../operation/operation.js';

/** The scratchpad that a request acts on without naming it (S7), and the role it acts in; no role: the owner, who has both. */
export interface ScratchpadBinding {
  readonly scratchpadId: string;
  readonly role: PadRole | undefined;
}

const form = idPattern('scratchpad');

/** By the key's own binding, or by what the door was told: a header, a run's context. One that contradicts the key is not there. */
export function resolveBinding(
  { pad }: Caller,
  told: string | undefined,
): ScratchpadBinding | undefined | Refusal<'not_found'> {
  if (told !== undefined && (!form.test(told) || (pad && pad.scratchpadId !== told))) return refuse('not_found');
  if (pad) return pad;
  return told === undefined ? undefined : { scratchpadId: told, role: undefined };
}

/** Does the key's binding, if it has one, leave room for an operation: for tools, and for what names a scratchpad. */
export const bindingAllows = ({ pad }: Caller, { input: { shape }, actsAs, tool }: Operation): boolean =>
  !pad || ((actsAs === undefined || actsAs === pad.role) && (tool !== undefined || 'scratchpadId' in shape));

/** What a bound key may do: act on its own pad, in its own role. */
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
