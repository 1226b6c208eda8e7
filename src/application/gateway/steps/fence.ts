import { actorOf, authorOf } from '../../access/caller.js';
import { Command } from '../../event-sourcing/command.js';
import { digestOf } from '../../kernel/canonical-json.js';
import type { Clock } from '../../ports/clock.js';
import type { Exchange } from '../exchange.js';
import type { Step } from '../step.js';

/**
 * Names the command: its id, and the idempotency key with the digest of what is asked under it.
 * Invariant: a retry with the same key makes the same ids, so it stores the same events (docs/flows.md#idempotency).
 */
export const fence = (clock: Clock): Step => ({
  name: 'fence',
  run(exchange) {
    exchange.command = commandOf(exchange, clock);
    return undefined;
  },
});

function commandOf(exchange: Exchange, clock: Clock): Command {
  const { caller, operation, correlationId, input, binding } = exchange;
  const who = { actor: actorOf(caller), author: authorOf(caller), correlationId, clock };
  const key = exchange.envelope.idempotencyKey;
  if (key === undefined) return new Command(who);
  const name = operation.recordedAs ?? operation.name;
  const names = [caller.userId, name, key];
  if (operation.tool && binding) names.push(binding.scratchpadId);
  const digest = digestOf(operation.fingerprint ? operation.fingerprint(input) : input);
  return new Command({ ...who, names, idempotency: { key, operation: name, digest } });
}
