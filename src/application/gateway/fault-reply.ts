import { refuse, type Refusal } from '../../domain/kernel/refusal.js';
import { describeFault } from '../faults/describe-fault.js';
import {
  BackendUnavailable,
  LogMismatch,
  OutcomeUnknown,
  Overloaded,
  OwnerErased,
  WrongRevision,
} from '../faults/errors.js';
import type { Logger, Metrics } from '../ports/telemetry.js';
import type { Exchange } from './exchange.js';

/** A command of several steps may be past the first of them. */
const overloaded = 'Too much is asked at once. It is safe to try again with the same idempotency key.';

/** What is wrong is for operators: it stands in the log and at `/readyz`. */
const anotherLog = 'The server does not work now: its event log is not the right one. Nothing was done.';

/** Which backend is away is for operators: it stands in the log and at `/readyz`. */
const away = 'A part of the server does not answer. It is safe to try again with the same idempotency key.';

/**
 * Turns a fault into a refusal and logs it.
 * Invariant: only class, code and stack frames are logged.
 * Why 503 for an unknown outcome: the command may be stored; asked again under its key, it is answered as the first.
 */
export function faultReply(
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
  { operation, correlationId }: Exchange,
  fault: unknown,
): Refusal {
  if (fault instanceof OwnerErased) return refuse('not_found');
  if (fault instanceof WrongRevision) {
    return refuse('unavailable', 'Too many writers at once. It is safe to try again.', { retryAfterSeconds: 1 });
  }
  if (fault instanceof LogMismatch) return refuse('unavailable', anotherLog, { retryAfterSeconds: 5 });
  if (fault instanceof Overloaded) return refuse('unavailable', overloaded, { retryAfterSeconds: 1 });
  if (fault instanceof BackendUnavailable || fault instanceof OutcomeUnknown) {
    const backend = fault instanceof BackendUnavailable ? fault.backend : 'eventstore';
    metrics.count('palimpsest_backend_outages_total', { backend });
    logger.warn({ ...describeFault(fault), backend, operation: operation.name, correlationId }, 'backend away');
    return refuse('unavailable', away, { retryAfterSeconds: 2 });
  }
  metrics.count('palimpsest_faults_total', { operation: operation.name });
  logger.error({ ...describeFault(fault), operation: operation.name, correlationId }, 'operation faulted');
  return refuse('internal_fault');
}
