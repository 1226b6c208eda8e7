import { type WireReader, WireWriter } from '../../../protobuf/wire.js';

export function readStreamName(identifier: WireReader): string {
  let name = '';
  while (identifier.next()) {
    if (identifier.field === 3) name = identifier.string();
    else identifier.skip();
  }
  return name;
}

export const streamIdentifier = (stream: string): Buffer => new WireWriter().string(3, stream).finish();
