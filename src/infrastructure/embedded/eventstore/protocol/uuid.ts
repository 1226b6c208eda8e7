import { MalformedMessage, WireReader, WireWriter } from '../../../protobuf/wire.js';

/** The value of each hexadecimal digit, by its character code; -1 for everything else. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
);

/** An event id in its inner form: sixteen bytes as a latin-1 string. */
export function idFromText(text: string): string {
  let id = '';
  let high = -1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x2d) continue; // a dash
    const digit = DIGITS[code] ?? -1;
    if (digit < 0) throw new MalformedMessage('an id is not a uuid');
    if (high < 0) high = digit;
    else {
      id += String.fromCharCode(high * 16 + digit);
      high = -1;
    }
  }
  if (id.length !== 16 || high >= 0) throw new MalformedMessage('an id is not a uuid');
  return id;
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
