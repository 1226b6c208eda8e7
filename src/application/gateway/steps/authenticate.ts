import { refuse } from '../../../domain/kernel/refusal.js';
import type { Step } from '../step.js';

/** Finds out who calls. */
export const authenticate: Step = {
  name: 'authenticate',
  async run(exchange) {
    const caller = await exchange.authenticate();
    if (!caller) return refuse('authentication_failed');
    exchange.caller = caller;
    return undefined;
  },
};
