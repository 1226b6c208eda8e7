import type { Entry } from '../../application/ports.js';

// The stored form: a list element is a JSON array in this order. Add at the end, never change what is there.
type StoredEntry = readonly [
  id: string,
  kind: string,
  content: string,
  fields: Readonly<Record<string, unknown>>,
  authorType: string,
  authorId: string,
  bytes: number,
  sha256: string,
  at: string,
  correlationId: string,
];

/** First element of every ledger, because Redis knows no empty list (M1). It makes entry n the element at index n. */
export const header = '{"form":1}';

export const entryText = (entry: Entry): string =>
  JSON.stringify([
    entry.id,
    entry.kind,
    entry.content,
    entry.fields,
    entry.author.type,
    entry.author.id,
    entry.bytes,
    entry.sha256,
    entry.at,
    entry.correlationId,
  ] satisfies StoredEntry);

export function readEntry(text: string): Entry {
  // Written by entryText and by nothing else.
  const [id, kind, content, fields, type, authorId, bytes, sha256, at, correlationId] = JSON.parse(text) as StoredEntry;
  return { id, kind, content, fields, author: { type, id: authorId }, bytes, sha256, at, correlationId };
}
