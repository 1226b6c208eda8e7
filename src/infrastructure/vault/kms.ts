/** A data key as it is stored: wrapped, marked with the KMS and the number of the KEK that unwraps it. */
export interface WrappedKey {
  readonly kms: string;
  readonly kek: number;
  readonly bytes: Buffer;
}

/** The key that is needed is not there, or is older than may be used, or did not wrap this. */
export class KeyUnavailable extends Error {
  constructor(
    readonly kms: string,
    readonly kek: number,
    options?: ErrorOptions,
  ) {
    super(`The key encryption key ${kms} ${kek} does not unwrap what is marked with it.`, options);
  }
}

/**
 * Wraps data keys under a numbered key encryption key that never leaves it. What was wrapped opens only with the same
 * `context`. Throws KeyUnavailable, or BackendUnavailable when a remote KMS does not answer.
 */
export interface Kms {
  /** Marks what it wraps; stored beside it. */
  readonly name: string;
  /** Number of the KEK that wraps now. */
  current(): Promise<number>;
  /** Answers whether it can unwrap what this KEK wrapped. */
  has(wrapped: Pick<WrappedKey, 'kms' | 'kek'>): Promise<boolean>;
  wrap(dataKey: Buffer, context: string): Promise<WrappedKey>;
  unwrap(wrapped: WrappedKey, context: string): Promise<Buffer>;
}

/** Wraps with the first and unwraps with whichever wrapped: so an installation moves from one KMS to another by a rotation. */
export function makeKmsChain(first: Kms, ...others: readonly Kms[]): Kms {
  const chain = [first, ...others];
  const named = (kms: string) => chain.find(({ name }) => name === kms);
  return {
    name: first.name,
    current: () => first.current(),
    has: async (wrapped) => (await named(wrapped.kms)?.has(wrapped)) ?? false,
    wrap: (dataKey, context) => first.wrap(dataKey, context),
    async unwrap(wrapped, context) {
      const kms = named(wrapped.kms);
      if (!kms) throw new KeyUnavailable(wrapped.kms, wrapped.kek);
      return kms.unwrap(wrapped, context);
    },
  };
}
