import { maxMessageBytes } from '../operations/message/append-message.js';

/** Cuts a text to the size of a message, and leaves out what no store takes: NUL characters, halves of surrogate pairs. */
export function truncate(text: string): string {
  const bytes = Buffer.from(text.toWellFormed().replaceAll('\u0000', ''));
  if (bytes.length <= maxMessageBytes) return bytes.toString();
  // A character that was cut in half ends as one replacement character, which takes three bytes.
  return `${bytes.subarray(0, maxMessageBytes - 8).toString()}…`;
}
