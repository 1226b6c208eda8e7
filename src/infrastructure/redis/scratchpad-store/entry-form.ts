import type { Entry, LedgerElements } from '../../../application/ports/ledger-store.js';

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

/** The stored names of generation, holes and layout version. */
interface StoredHeader {
  readonly clears: number;
  readonly gaps: number;
  readonly arranged: number;
}

/** First element of every ledger, because Redis knows no empty list. It makes entry n the element at index n. */
export const header = '{"form":1}';

/** In place of an entry that was lost: its index is not given again. */
export const lostElement = 'null';

export const headerOf = (generation: number, holes: number): string =>
  generation === 0 && holes === 0 ? header : JSON.stringify({ form: 1, clears: generation, gaps: holes });

/** Reads a header; what is absent is 0. */
export function readHeader(text: string): Pick<LedgerElements, 'generation' | 'holes' | 'layoutVersion'> {
  if (text === header) return { generation: 0, holes: 0, layoutVersion: 0 };
  // Written by headerOf and the scripts.
  const { clears = 0, gaps = 0, arranged = 0 } = JSON.parse(text) as Partial<StoredHeader>;
  return { generation: clears, holes: gaps, layoutVersion: arranged };
}

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

/** Elements by what they are: entries begin with a bracket, duplicates with a brace. */
export function readElements(
  elements: readonly string[],
  firstIndex: number,
): Pick<LedgerElements, 'entries' | 'lost' | 'duplicates'> {
  const entries: LedgerElements['entries'][number][] = [];
  const lost: number[] = [];
  const duplicates: LedgerElements['duplicates'][number][] = [];
  elements.forEach((text, place) => {
    const index = firstIndex + place;
    if (text === lostElement) lost.push(index);
    else if (text.startsWith('[')) entries.push({ ...readEntry(text), index });
    else duplicates.push({ ...(JSON.parse(text) as { entryId: string; of: number }), index }); // Written by mark-duplicate.lua.
  });
  return { entries, lost, duplicates };
}
