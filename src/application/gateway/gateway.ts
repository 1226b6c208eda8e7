import { isRefusal, type Refusal } from '../../domain/kernel/refusal.js';
import type { Authenticate } from '../access/authenticate.js';
import type { LogGuard } from '../event-sourcing/log-guard.js';
import { withinCodes } from '../operation/refusal-codes.js';
import type { Clock } from '../ports/clock.js';
import type { Logger, Metrics } from '../ports/telemetry.js';
import { Exchange } from './exchange.js';
import { faultReply } from './fault-reply.js';
import type { Gateway, Principal, Success } from './request.js';
import type { Step } from './step.js';
import { authenticate } from './steps/authenticate.js';
import { authorize } from './steps/authorize.js';
import { awaitMinPosition } from './steps/await-min-position.js';
import { awaitProjection } from './steps/await-projection.js';
import { bindScratchpad } from './steps/bind-scratchpad.js';
import { checkOutput } from './steps/check-output.js';
import { fence } from './steps/fence.js';
import { parse } from './steps/parse.js';
import { run, type RunNeeds } from './steps/run.js';
import { verifyLog } from './steps/verify-log.js';

export interface GatewayNeeds extends RunNeeds {
  readonly authenticate: Authenticate;
  readonly logGuard: Pick<LogGuard, 'hold'>;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/**
 * The one pipeline of every door; the first refusal ends the exchange. Rate limits belong after `authorize`, which knows
 * operation and caller; the reservation of money after `fence`, whose id a retry finds again, and its settling after `run`.
 */
export const steps = (needs: GatewayNeeds): readonly Step[] => [
  authenticate,
  authorize,
  parse,
  bindScratchpad,
  fence(needs.clock),
  awaitMinPosition(needs.watermark),
  verifyLog(needs.logGuard),
  run(needs),
  awaitProjection(needs.watermark),
  checkOutput(needs.metrics),
];

export function makeGateway(needs: GatewayNeeds): Gateway {
  const pipeline = steps(needs);
  return async (request) => {
    const started = performance.now();
    const exchange = new Exchange(request, authenticator(request.principal, needs.authenticate));
    const answered = await pass(exchange, pipeline, needs);
    const result = isRefusal(answered) ? withinCodes(request.operation, answered) : answered;
    needs.metrics.observe('palimpsest_operation_seconds', (performance.now() - started) / 1000, {
      operation: request.operation.name,
      door: request.door,
      outcome: isRefusal(result) ? result.refused : 'ok',
    });
    return { correlationId: exchange.correlationId, result };
  };
}

const authenticator = (principal: Principal, byKey: Authenticate) =>
  'authenticate' in principal ? principal.authenticate : () => byKey(principal.bearer);

async function pass(exchange: Exchange, pipeline: readonly Step[], needs: GatewayNeeds): Promise<Success | Refusal> {
  try {
    for (const step of pipeline) {
      const passing = step.run(exchange);
      const refusal = passing instanceof Promise ? await passing : passing;
      if (refusal) return refusal;
    }
    return exchange.success;
  } catch (fault) {
    return faultReply(needs, exchange, fault);
  }
}
