import type { z } from 'zod';
import { eventSchemas, upcasts } from '../../domain/events.js';
import type { DomainEvent } from '../../domain/kernel/aggregate.js';
import { metadataSchema, type EventMetadata } from '../../domain/kernel/envelope.js';
import { personalFields } from '../../domain/kernel/personal.js';
import type { NewEvent, StoredEvent } from '../ports/event-store.js';
import type { PersonalDataKey } from '../ports/personal-data-keys.js';

/** An event as this version understands it: opened, upcast, checked. */
export interface DecodedEvent extends DomainEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: bigint;
  readonly at: string;
  readonly metadata: EventMetadata;
}

/** The stored event is of a type or form that this version cannot read. */
export class Undecodable extends Error {
  constructor(event: StoredEvent, why: string) {
    super(`Event ${event.id} (${event.type}) at ${event.stream}@${event.revision}: ${why}`);
  }
}

interface EventType {
  readonly schema: z.ZodObject;
  readonly personal: ReadonlyMap<string, unknown>;
  readonly version: number;
}

const types: ReadonlyMap<string, EventType> = new Map(
  Object.entries(eventSchemas).map(([type, schema]) => [
    type,
    { schema, personal: personalFields(schema), version: (upcasts[type]?.length ?? 0) + 1 },
  ]),
);

/** True for a value that stands sealed in a stored event. */
export const isSealed = (value: unknown): value is { readonly $sealed: string } =>
  typeof value === 'object' && value !== null && '$sealed' in value && typeof value.$sealed === 'string';

/** The personal fields of a type, with what each reads as once its owner is erased. */
export const personalFieldsOf = (type: string): ReadonlyMap<string, unknown> => types.get(type)?.personal ?? new Map();

/** Does any of these events carry personal text, so that a key to seal it with is needed? */
export const needsKey = (events: readonly DomainEvent[]): boolean =>
  events.some(({ type }) => personalFieldsOf(type).size > 0);

/** A sealed value opens only in the field of the event that it was sealed for. */
const contextOf = (ownerId: string, eventId: string, field: string) => `${ownerId}/${eventId}/${field}`;

/** Checks an event against its schema and seals its personal fields. */
export function encode(
  id: string,
  event: DomainEvent,
  metadata: Omit<EventMetadata, 'schemaVersion'>,
  key: PersonalDataKey | undefined,
): NewEvent {
  const type = types.get(event.type);
  if (!type) throw new Error(`No schema for events of type ${event.type}.`);
  const data: Record<string, unknown> = { ...type.schema.parse(event.data) };
  for (const field of type.personal.keys()) {
    // That nothing was said is no personal text.
    if (data[field] === undefined || data[field] === null) continue;
    if (!key) throw new Error(`No key to seal ${event.type}.${field} with.`);
    data[field] = { $sealed: key.seal(JSON.stringify(data[field]), contextOf(metadata.ownerId, id, field)) };
  }
  return { id, type: event.type, data, metadata: { ...metadata, schemaVersion: type.version } };
}

/** Opens the sealed fields of stored data; without the key they read as erased. */
export function openFields(
  event: StoredEvent,
  ownerId: string,
  key: PersonalDataKey | undefined,
): Record<string, unknown> {
  const data: Record<string, unknown> = { ...event.data };
  for (const [field, value] of Object.entries(data)) {
    if (!isSealed(value)) continue;
    data[field] = key
      ? (JSON.parse(key.open(value.$sealed, contextOf(ownerId, event.id, field))) as unknown)
      : (personalFieldsOf(event.type).get(field) ?? '[erased]');
  }
  return data;
}

/** What an event says now: opened with the owner's key, brought to the current version, checked. Throws Undecodable. */
export function decode(event: StoredEvent, keys: ReadonlyMap<string, PersonalDataKey>): DecodedEvent {
  const metadata = metadataSchema.safeParse(event.metadata);
  if (!metadata.success) throw new Undecodable(event, 'its metadata is not ours');
  const type = types.get(event.type);
  if (!type) throw new Undecodable(event, 'its type is not known to this version');
  if (metadata.data.schemaVersion > type.version) throw new Undecodable(event, 'it was written by a later version');
  const opened = openFields(event, metadata.data.ownerId, keys.get(metadata.data.ownerId));
  const current = (upcasts[event.type] ?? [])
    .slice(metadata.data.schemaVersion - 1)
    .reduce<Readonly<Record<string, unknown>>>((data, upcast) => upcast(data), opened);
  const data = type.schema.safeParse(current);
  if (!data.success) throw new Undecodable(event, 'its data does not have the form of its type');
  return {
    id: event.id,
    type: event.type,
    stream: event.stream,
    revision: event.revision,
    position: event.position,
    at: metadata.data.at,
    data: data.data,
    metadata: metadata.data,
  };
}

/** The owners whose keys are needed to read these events. */
export const ownersOf = (events: readonly StoredEvent[]): ReadonlySet<string> =>
  new Set(events.flatMap(({ metadata }) => (typeof metadata['ownerId'] === 'string' ? [metadata['ownerId']] : [])));
