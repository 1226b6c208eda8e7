import type { AllStreamRecordedEvent, RecordedEvent } from '@eventstore/db-client';
import type { StoredEvent } from '../../application/ports.js';

/** An event of the store in the product's form; undefined for the store's own (`$…`) and for links to nothing. */
export function storedEvent(resolved: {
  readonly event?: RecordedEvent | AllStreamRecordedEvent;
  readonly commitPosition?: bigint;
}): StoredEvent | undefined {
  const { event, commitPosition } = resolved;
  if (!event || event.type.startsWith('$') || event.streamId.startsWith('$')) return undefined;
  return {
    id: event.id,
    type: event.type,
    data: asRecord(event.data),
    metadata: asRecord(event.metadata),
    stream: event.streamId,
    revision: Number(event.revision),
    position: event.position?.commit ?? commitPosition ?? 0n,
  };
}

type Json = Readonly<Record<string, unknown>>;

/** Anybody's events may stand in the store; what is no JSON object is kept as it is, under a name. */
function asRecord(value: unknown): Json {
  if (value === undefined) return {};
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { $value: value };
  return value as Json; // Parsed JSON that is neither an array nor a single value.
}
