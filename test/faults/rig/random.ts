/** Chance that can be had again: the same seed makes the same run, as far as the choices of the rig go. */
export class Random {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed;
  }

  /** From 0 up to, and not, 1. */
  next(): number {
    // mulberry32
    this.state = (this.state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  pick<Value>(values: readonly [Value, ...Value[]]): Value {
    return values[this.between(0, values.length - 1)] ?? values[0];
  }
}

/** Runs with CHAOS_SEED, or a seed of its own; one that fails is printed, to be run again. */
export async function withSeed<Result>(work: (random: Random) => Promise<Result>): Promise<Result> {
  const seed = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 1e9));
  try {
    return await work(new Random(seed));
  } catch (fault) {
    throw new Error(`Failed with CHAOS_SEED=${seed}: ${fault instanceof Error ? fault.message : String(fault)}`, {
      cause: fault,
    });
  }
}

/** Sizes of the long form are asked for with CHAOS=full; single ones by a variable of their own. */
export const sizeOf = (variable: string, quick: number, full: number): number =>
  Number(process.env[variable] ?? (process.env['CHAOS'] === 'full' ? full : quick));
