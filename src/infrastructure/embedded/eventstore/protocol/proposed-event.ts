import type { ProposedEvent } from '../engine/events.js';
import { readUuid } from './uuid.js';
import type { WireReader } from '../../../protobuf/wire.js';

const NOTHING: Buffer = Buffer.alloc(0);

/** Says which mandatory property of an event's metadata is missing. */
export class MissingProperty extends Error {
  constructor(readonly property: 'type' | 'content-type') {
    super(`required metadata property missing: ${property}`);
  }
}

/** Reads the event that both kinds of append carry in the same layout. */
export function readProposedEvent(message: WireReader): ProposedEvent {
  let id: string | undefined;
  let type: string | undefined;
  let contentType: string | undefined;
  let data = NOTHING;
  let metadata = NOTHING;
  while (message.next()) {
    if (message.field === 1) id = readUuid(message.message());
    else if (message.field === 2) {
      const [key, value] = readEntry(message.message());
      if (key === 'type') type = value;
      else if (key === 'content-type') contentType = value;
    } else if (message.field === 3) metadata = message.view();
    else if (message.field === 4) data = message.view();
    else message.skip();
  }
  if (type === undefined) throw new MissingProperty('type');
  if (contentType === undefined) throw new MissingProperty('content-type');
  return { id: id ?? '\0'.repeat(16), type, json: contentType === 'application/json', data, metadata };
}

function readEntry(entry: WireReader): [string, string] {
  let key = '';
  let value = '';
  while (entry.next()) {
    if (entry.field === 1) key = entry.string();
    else if (entry.field === 2) value = entry.string();
    else entry.skip();
  }
  return [key, value];
}
