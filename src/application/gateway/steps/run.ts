import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { makeCursors } from '../../operation/cursors.js';
import type { OperationContext, Powers, Services } from '../../operation/context.js';
import type { ProjectionControl } from '../../ports/projection-control.js';
import type { Watermark } from '../../ports/read-models.js';
import { systemPowers } from '../../tenancy/system-powers.js';
import type { Tenants } from '../../tenancy/tenants.js';
import type { Exchange } from '../exchange.js';
import type { Step } from '../step.js';

export interface RunNeeds {
  readonly tenants: Tenants;
  readonly watermark: Watermark;
  readonly cursorKey: Buffer;
  readonly services: Services;
  readonly projections: ProjectionControl;
}

/** How long an operation may wait for the read models. */
const positionWaitMs = 10_000;

/** Runs the operation, bound to the caller's tenant, with the powers that it declares. */
export const run = (needs: RunNeeds): Step => ({
  name: 'run',
  async run(exchange) {
    const { operation, input } = exchange;
    const outcome = await operation.run(input, contextOf(exchange, needs), powersOf(exchange, needs));
    if (isRefusal(outcome)) return outcome;
    exchange.outcome = outcome;
    return undefined;
  },
});

function contextOf(exchange: Exchange, { tenants, watermark, cursorKey }: RunNeeds): OperationContext {
  const { caller, command, binding, envelope } = exchange;
  const tenant = tenants.of(caller.userId, command, binding?.role);
  return {
    caller,
    command,
    tenant,
    boundPad: binding ? tenant.scratchpads.pad(binding.scratchpadId) : noScratchpad,
    ifMatch: envelope.ifMatch,
    cursors: makeCursors(cursorKey, caller.userId),
    awaitPosition: (position) => watermark.waitFor(position, positionWaitMs),
  };
}

const noScratchpad = refuse(
  'precondition_failed',
  'No scratchpad is bound: use a key that is bound to one, or name one (the header Palimpsest-Scratchpad, on the command line --scratchpad).',
  { reason: 'no_scratchpad_bound' },
);

/** The declared powers and no others. */
function powersOf({ operation, caller, command }: Exchange, { tenants, services, projections }: RunNeeds): object {
  if (!operation.uses) return none;
  const powers: Powers = Object.assign(systemPowers(tenants, projections, caller, command), services);
  return Object.fromEntries(operation.uses.map((name) => [name, powers[name]]));
}

const none = {};
