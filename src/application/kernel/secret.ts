import { inspect } from 'node:util';

const placeholder = '[secret]';

/**
 * A value that may be sealed and used, and never shown: printing, JSON, inspection, templates and errors all give
 * `[secret]`. Only `reveal` gives the value, so that finding who reads secrets is finding who calls it.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself: for the cipher, and for the call that the secret authenticates. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return placeholder;
  }

  toJSON(): string {
    return placeholder;
  }

  [inspect.custom](): string {
    return placeholder;
  }
}
