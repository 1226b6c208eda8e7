import type { Issue, Refusal } from '../../domain/kernel/refusal.js';
import { isRandomUuid, isUuid } from '../kernel/ids.js';
import { invalid } from '../kernel/validation.js';
import { envelopeFields } from '../operation/public-input.js';
import type { Request } from './request.js';

/** The fields of the envelope as they were sent, and the rest of the input. */
export interface SentFields {
  readonly idempotencyKey: string | undefined;
  readonly correlationId: string | undefined;
  /** The first that is not text, or disagrees with its header. */
  readonly wrong: Issue | undefined;
  readonly rest: unknown;
}

/** Takes the envelope's fields out of the input, unless the operation has a field of that name with a meaning of its own. */
export function fieldsOf({ operation, input, correlationId, idempotencyKey, lastEventId }: Request): SentFields {
  const sent = { correlationId, idempotencyKey };
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { correlationId, idempotencyKey, wrong: undefined, rest: input };
  }
  const rest: Record<string, unknown> = { ...input };
  let wrong: Issue | undefined;
  for (const field of envelopeFields) {
    const value = rest[field];
    if (value === undefined || field in operation.input.shape) continue;
    if (field === 'idempotencyKey' && operation.kind !== 'command') continue;
    if (typeof value !== 'string') wrong ??= { param: field, rule: 'must be a string' };
    else if (sent[field] === undefined || sent[field] === value) sent[field] = value;
    else wrong ??= { param: field, rule: 'the header and the field must be the same text' };
    Reflect.deleteProperty(rest, field);
  }
  // Browsers reconnect with the URL they began with, so the header is the newer.
  if (operation.kind === 'events' && lastEventId !== undefined) rest['lastEventId'] = lastEventId;
  return {
    correlationId: sent.correlationId?.toLowerCase(),
    idempotencyKey: sent.idempotencyKey?.toLowerCase(),
    wrong,
    rest,
  };
}

export interface Envelope {
  readonly idempotencyKey: string | undefined;
  readonly ifMatch: number | undefined;
  readonly minPosition: bigint | undefined;
}

/** Checks the fields that belong to the envelope and not to the operation. */
export function checkEnvelope(
  { operation, ifMatch, minPosition: sentPosition }: Request,
  { idempotencyKey, correlationId, wrong }: SentFields,
): Envelope | Refusal<'validation_failed'> {
  // What a command stores does not depend on the read models: it waits for none.
  const minPosition = operation.kind === 'command' ? undefined : sentPosition;
  const refused = (param: string, rule: string) => invalid([{ param, rule }]);
  if (wrong) return invalid([wrong]);
  if (correlationId !== undefined && !isUuid(correlationId)) return refused('correlationId', 'must be a uuid');
  if (idempotencyKey !== undefined && !isUuid(idempotencyKey)) return refused('idempotencyKey', 'must be a uuid');
  if (operation.requiresIdempotencyKey) {
    if (idempotencyKey === undefined) return refused('idempotencyKey', 'is required');
    if (!isRandomUuid(idempotencyKey)) return refused('idempotencyKey', 'must be a random uuid');
  }
  const revision = ifMatch === undefined ? undefined : /^"r(\d{1,15})"$/.exec(ifMatch)?.[1];
  if (ifMatch !== undefined && revision === undefined) {
    return refused('If-Match', 'must be a content revision like "r7"');
  }
  if (minPosition !== undefined && !/^\d{1,19}$/.test(minPosition)) {
    return refused('Palimpsest-Min-Position', 'must be a position');
  }
  return {
    idempotencyKey,
    ifMatch: revision === undefined ? undefined : Number(revision),
    minPosition: minPosition === undefined ? undefined : BigInt(minPosition),
  };
}
