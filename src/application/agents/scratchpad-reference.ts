import { sha256 } from '../kernel/canonical-json.js';
import type { Operation } from '../operation/operation.js';

interface TextDigest {
  readonly sha256: string;
  readonly bytes: number;
}
type Reference = Readonly<Record<string, number | TextDigest>>;

/**
 * What a scratchpad tool was given, without the words: each text as its digest, which is also in the event of the write.
 * Why: stored conversations outlive the pad, and a deleted pad leaves no word behind
 * (docs/decisions/0050-research-runtime.md).
 */
export function inputReference({ input: schema }: Operation, input: unknown): Reference {
  const parsed = schema.safeParse(input);
  if (parsed.success) return withoutWords(parsed.data);
  // What the schema refuses was meant for the pad all the same, and even the name of a field may be words of it.
  return { input: digestOf(JSON.stringify(input ?? null)) };
}

/** What a scratchpad tool answered, without the words: its revision, index or range of indexes, digests of its texts. */
export const outputReference = ({ output: schema }: Operation, output: unknown): Reference =>
  withoutWords(schema.parse(output));

/** The numbers of an object as they are, everything else as its digest. */
function withoutWords(value: unknown): Reference {
  const reference: Record<string, number | TextDigest> = {};
  for (const [field, part] of Object.entries(value ?? {}) as [string, unknown][]) {
    if (typeof part === 'number') reference[field] = part;
    else reference[field] = digestOf(typeof part === 'string' ? part : JSON.stringify(part));
  }
  return reference;
}

const digestOf = (text: string): TextDigest => ({ sha256: sha256(text), bytes: Buffer.byteLength(text) });
