import type { Wish } from '../engine/decide.js';
import { sizeOf } from '../engine/events.js';
import type { Outcome } from '../engine/expectation.js';
import { MAX_APPEND_BYTES } from '../engine/limits.js';

const MAX_NAME_BYTES = 1000;

/** Why a stream cannot have this name, or undefined. */
export function nameFault(stream: string): string | undefined {
  if (stream === '' || stream === '$$') return 'A stream needs a name.';
  if (stream.startsWith('$$$$')) return 'A metastream has no metastream of its own.';
  if (stream.includes('\0')) return 'A stream name cannot hold a NUL.';
  return Buffer.byteLength(stream) > MAX_NAME_BYTES ? `A stream name has at most ${MAX_NAME_BYTES} bytes.` : undefined;
}

/** The answer to a wish that is refused whatever the state of its stream, or undefined. */
export function refusalOf({ kind, stream, events }: Wish): Outcome | undefined {
  const reason =
    nameFault(stream) ??
    (kind !== 'append' && stream.startsWith('$$') ? 'A metastream is not deleted on its own.' : undefined);
  if (reason !== undefined) return { kind: 'refused', reason };
  if (events.some((event) => event.type.includes('\0')))
    return { kind: 'refused', reason: 'An event type cannot hold a NUL.' };
  const bytes = events.reduce((sum, event) => sum + sizeOf(event), 0);
  return bytes > MAX_APPEND_BYTES ? { kind: 'too_large' } : undefined;
}
