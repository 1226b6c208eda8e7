import { z } from 'zod';
import { metadataSchema } from '../../domain/kernel/envelope.js';
import { canonicalJson, digestOf, sha256 } from '../kernel/canonical-json.js';

/** What an exported event must have to be checked: its stored form, and its link of the owner's chain. */
export const chainedEvent = z.object({
  position: z.string().regex(/^\d{1,19}$/),
  id: z.string(),
  type: z.string(),
  stream: z.string(),
  revision: z.coerce.number(),
  ownerId: z.string(),
  actor: z.unknown(),
  correlationId: z.string(),
  causationId: z.string().nullable(),
  at: z.string(),
  data: z.unknown(),
  metadata: z.unknown(),
  digest: z.string(),
  hash: z.string(),
});
export type ChainedEvent = z.output<typeof chainedEvent>;

/** What is wrong with an event of a chain. */
export type ChainFault =
  /** Its data or metadata are not what was digested. */
  | 'digest'
  /** It does not follow the event before it: one of them was changed, moved, taken out or put in. */
  | 'hash'
  /** What is shown beside the metadata (who, when, why) is not what the metadata say. */
  | 'columns'
  /** Its position is not after the one before it. */
  | 'order';

/** Where a chain stands: the last event's hash and position; empty before the first. */
export interface ChainEnd {
  readonly hash: string;
  readonly position: string;
}
export const chainStart: ChainEnd = { hash: '', position: '-1' };

/** What is wrong with the next event of a chain; undefined when it fits. */
export function chainFault(before: ChainEnd, event: ChainedEvent): ChainFault | undefined {
  const { id, type, stream, revision, digest, hash, data, metadata } = event;
  if (digestOf([data, metadata]) !== digest) return 'digest';
  if (sha256([before.hash, id, type, stream, revision, digest].join('|')) !== hash) return 'hash';
  if (!fitsMetadata(event)) return 'columns';
  return BigInt(event.position) > BigInt(before.position) ? undefined : 'order';
}

/** The digest covers the metadata; these members only repeat them, to be read and filtered by. */
function fitsMetadata({ metadata, ownerId, actor, correlationId, causationId, at }: ChainedEvent): boolean {
  const said = metadataSchema.safeParse(metadata).data;
  return (
    said !== undefined &&
    said.ownerId === ownerId &&
    canonicalJson(said.actor) === canonicalJson(actor) &&
    said.$correlationId === correlationId &&
    (said.$causationId ?? null) === causationId &&
    Date.parse(said.at) === Date.parse(at)
  );
}
