/** A key encryption key: 32 bytes, and the number that what it wraps is marked with. */
export interface Kek {
  readonly number: number;
  readonly key: Buffer;
}

/** The KEKs of an installation: the current one wraps, all of them unwrap. */
export interface KekRing {
  readonly current: Kek;
  readonly all: readonly Kek[];
}

const form = /^(?:(\d{1,6}):)?([A-Za-z0-9+/]{43}=)$/;

/** Reads `number:base64`, or base64 alone, which is number 1. Undefined when it is neither. */
export function parseKek(text: string): Kek | undefined {
  const [, number = '1', base64] = form.exec(text.trim()) ?? [];
  return base64 === undefined || Number(number) < 1
    ? undefined
    : { number: Number(number), key: Buffer.from(base64, 'base64') };
}

/** Throws RangeError when two KEKs have the same number: what is marked with it could be either's. */
export function makeKekRing(current: Kek, others: readonly Kek[] = []): KekRing {
  const all = [current, ...others];
  const numbers = new Set(all.map(({ number }) => number));
  if (numbers.size !== all.length) throw new RangeError('Two key encryption keys have the same number.');
  return { current, all };
}
