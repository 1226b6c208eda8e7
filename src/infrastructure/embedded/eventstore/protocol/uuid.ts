import { MalformedMessage, WireReader, WireWriter } from './wire.js';

const TEXT = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** An event id in its inner form: sixteen bytes as a latin-1 string. */
export function idFromText(text: string): string {
  if (!TEXT.test(text)) throw new MalformedMessage('an id is not a uuid');
  return Buffer.from(text.replaceAll('-', ''), 'hex').toString('latin1');
}

export function idToText(id: string): string {
  const hex = Buffer.from(id, 'latin1').toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Reads the protocol's UUID message, which comes as text or as two 64-bit halves. */
export function readUuid(message: WireReader): string {
  let id: string | undefined;
  while (message.next()) {
    if (message.field === 2) id = idFromText(message.string());
    else if (message.field === 1) id = readHalves(message.message());
    else message.skip();
  }
  if (id === undefined) throw new MalformedMessage('an id is missing');
  return id;
}

function readHalves(message: WireReader): string {
  const bytes = Buffer.alloc(16);
  while (message.next()) {
    if (message.field === 1) bytes.writeBigUInt64BE(message.bigint(), 0);
    else if (message.field === 2) bytes.writeBigUInt64BE(message.bigint(), 8);
    else message.skip();
  }
  return bytes.toString('latin1');
}

/** The UUID message of `id` as two signed 64-bit halves. */
export function structuredUuid(id: string): Buffer {
  const bytes = Buffer.from(id, 'latin1');
  const halves = new WireWriter().bigint(1, bytes.readBigInt64BE(0)).bigint(2, bytes.readBigInt64BE(8));
  return new WireWriter().block(1, halves.finish()).finish();
}
