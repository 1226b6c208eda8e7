import { BackendUnavailable } from '../../application/faults/errors.js';

/** gRPC status codes that this adapter distinguishes. */
export const code = { cancelled: 1, deadline: 4, denied: 7, unimplemented: 12, unavailable: 14, unauthenticated: 16 };

/** The gRPC code of a failure, also where the client hands over the raw error instead of one of its own. */
export function grpcCode(failure: unknown): number | undefined {
  if (typeof failure !== 'object' || failure === null || !('code' in failure)) return undefined;
  return typeof failure.code === 'number' ? failure.code : undefined;
}

/** The stream was ended for good: it reads as empty. */
export function streamDeleted(failure: unknown): boolean {
  if (typeof failure !== 'object' || failure === null || !('metadata' in failure)) return false;
  const { metadata } = failure as { metadata?: { get?: (name: string) => unknown[] } }; // Trailers of a gRPC error.
  return metadata?.get?.('exception')[0] === 'stream-deleted';
}

/** The server never saw the call: it was refused before, or nothing could be reached to send it to. */
export function neverSent(failure: unknown): boolean {
  const status = grpcCode(failure);
  if (status === code.denied || status === code.unauthenticated || status === code.unimplemented) return true;
  if (!(failure instanceof Error)) return false;
  if (discoveryFailed(failure)) return true;
  return status === code.unavailable && /No connection established|Name resolution failed/.test(failure.message);
}

/** In discover mode the client remembers a failed discovery for ever, so it must be replaced. */
export const discoveryFailed = (failure: unknown): boolean =>
  failure instanceof Error && failure.message.startsWith('Failed to discover');

/** Makes a fault with nothing of the driver's error but its kind. Why: the error may carry what it was working on. */
export const unavailable = (failure?: unknown): BackendUnavailable =>
  new BackendUnavailable('eventstore', { cause: failure === undefined ? undefined : new Error(brief(failure)) });

/** A failure in a few words that hold no payload. */
export function brief(failure: unknown): string {
  const name = failure instanceof Error ? failure.name : typeof failure;
  const kind = grpcCode(failure);
  return kind === undefined ? name : `${name} (${kind})`;
}
