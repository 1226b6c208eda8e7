import { isNativeError } from 'node:util/types';
import { DatabaseError } from 'pg';
import { BackendUnavailable } from '../../application/faults/errors.js';
import { ConnectionLost, StatementFailed } from './pipeline.js';

/** SQLSTATE classes of the server's condition, not of the statement. */
const outageClasses = new Set(['08', '25', '28', '3D', '40', '53', '55', '57', '58', 'F0', 'XX']);

/** Answers whether the server, not the statement, is the reason of a fault: the same statement may then succeed later. */
export function isOutage(fault: unknown): boolean {
  if (fault instanceof StatementFailed) return outageClasses.has(fault.code.slice(0, 2));
  if (fault instanceof DatabaseError) return outageClasses.has((fault.code ?? '').slice(0, 2));
  if (fault instanceof ConnectionLost || fault instanceof BackendUnavailable) return true;
  // The driver reports sockets and pools in plain errors, several of them at once when a name has several addresses.
  if (!isNativeError(fault)) return false;
  return 'syscall' in fault || 'errors' in fault || /connect|terminated|not queryable/i.test(fault.message);
}

/** Names a fault in a word that is safe to log and to store. */
export function faultName(fault: unknown): string {
  if (fault instanceof StatementFailed) return `sqlstate ${fault.code}`;
  return fault instanceof Error ? fault.constructor.name : typeof fault;
}

/** Turns an outage into BackendUnavailable; a refused statement stays as it is. */
export const asPortFault = (fault: unknown): unknown =>
  isOutage(fault) && !(fault instanceof BackendUnavailable)
    ? new BackendUnavailable('postgres', { cause: fault })
    : fault;
