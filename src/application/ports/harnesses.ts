/** A program that agents run in, and the providers whose credentials it takes. */
export interface Harness {
  readonly name: string;
  readonly description: string;
  /** Providers it accepts; `any` stands for all of them. */
  readonly providers: readonly string[] | 'any';
}

/** The harnesses that agents can be enrolled into now. Fails when: it cannot know them; then nothing is enrolled. */
export interface HarnessRegistry {
  list(): Promise<readonly Harness[]>;
}
