import { isRefusal, refuse, type Refusal } from '../../../domain/kernel/refusal.js';
import type { Caller, ScratchpadBinding } from '../../access/caller.js';
import { idPattern } from '../../kernel/ids.js';
import { checkBinding } from '../../operation/authorization.js';
import type { Step } from '../step.js';

/** Resolves the scratchpad that tools act on, and refuses what a bound key may not do. */
export const bindScratchpad: Step = {
  name: 'bind scratchpad',
  run(exchange) {
    const { caller, operation, request } = exchange;
    const binding = resolveBinding(caller, request.scratchpad);
    if (isRefusal(binding)) return binding;
    exchange.binding = binding;
    return checkBinding(caller, operation, exchange.input);
  },
};

const form = idPattern('scratchpad');

/** By the key's own binding, or by what the door names: a header. A name that contradicts the key is `not_found`. */
function resolveBinding(
  { pad }: Caller,
  named: string | undefined,
): ScratchpadBinding | undefined | Refusal<'not_found'> {
  if (named !== undefined && (!form.test(named) || (pad && pad.scratchpadId !== named))) return refuse('not_found');
  if (pad) return pad;
  return named === undefined ? undefined : { scratchpadId: named, role: undefined };
}
