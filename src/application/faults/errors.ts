/** Another writer was first. The true revision is found by reading, never taken from the error. */
export class WrongRevision extends Error {
  constructor(readonly stream: string) {
    super('The stream has moved on.');
  }
}

/** No answer in time: the append may or may not have happened. Read the stream to know; never compensate (docs/flows.md#outcome-unknown). */
export class OutcomeUnknown extends Error {
  constructor(readonly stream: string) {
    super('The event store did not answer in time.');
  }
}

/** A backend cannot be reached or refuses work. */
export class BackendUnavailable extends Error {
  constructor(
    readonly backend: 'eventstore' | 'postgres' | 'redis' | 'kms',
    options?: ErrorOptions,
  ) {
    super(`The ${backend} backend is not available.`, options);
  }
}

/** More is asked of a backend at once than it keeps up with. What was refused so has not happened. */
export class Overloaded extends BackendUnavailable {}

/**
 * The event log is not the one that the other backends' data belongs to, or has lost its end. Nothing may be read from it or
 * written to it (docs/flows.md#another-log). The message is for operators: it names logs and positions, nothing else.
 */
export class LogMismatch extends BackendUnavailable {
  constructor(message: string) {
    super('eventstore');
    this.message = message;
  }
}

/** The owner's data key was destroyed: nothing more may be written about them. */
export class OwnerErased extends Error {
  constructor() {
    super('The owner was erased.');
  }
}
