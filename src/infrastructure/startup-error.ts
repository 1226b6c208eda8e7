/** A start that cannot go on for a reason the operator can act on. The message is one line, meant to be shown without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
