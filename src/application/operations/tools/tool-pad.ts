import { refuse, type Refusal } from '../../../domain/kernel/refusal.js';
import type { OperationContext } from '../../operation/context.js';
import type { PadRef } from '../../ports/pad-keys.js';

/** The scratchpad that a tool acts on. The model never names it: the runtime binds it (S7). */
export const toolPad = ({ pad, caller }: OperationContext): PadRef | Refusal<'precondition_failed'> =>
  pad
    ? { scratchpadId: pad.scratchpadId, ownerId: caller.userId }
    : refuse(
        'precondition_failed',
        'No scratchpad is bound: use a key that is bound to one, or name one (the header Palimpsest-Scratchpad, on the command line --scratchpad).',
        { reason: 'no_scratchpad_bound' },
      );
