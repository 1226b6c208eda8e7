import { BackendUnavailable, LogMismatch } from '../application/faults/errors.js';
import { StartupError } from '../infrastructure/startup-error.js';
import { TourFailed } from '../interfaces/cli/tour.js';
import { UsageError } from '../interfaces/cli/usage-error.js';

/** What a command that failed prints: one line for what an operator can act on; a fault of ours keeps its stack. */
export function failureLine(fault: unknown): string {
  const isExpected = [UsageError, StartupError, BackendUnavailable, TourFailed].some((kind) => fault instanceof kind);
  if (isExpected && fault instanceof Error) return `palimpsest: ${fault.message}${hintFor(fault)}`;
  return String(fault instanceof Error ? fault.stack : fault);
}

/** Where an operator looks when a backend of their own does not answer. */
function hintFor(fault: Error): string {
  const variables = {
    eventstore: 'EVENTSTORE_URL',
    postgres: 'DATABASE_URL',
    redis: 'REDIS_URL',
    kms: 'PALIMPSEST_KMS_URL',
  };
  return fault instanceof BackendUnavailable && !(fault instanceof LogMismatch)
    ? ` If it is your own: does it serve, and is ${variables[fault.backend]} right?`
    : '';
}
