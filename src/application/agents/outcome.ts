import type { Failure } from '../../domain/research/events.js';
import { CredentialMissing, ModelFailed } from '../ports/models.js';

/**
 * A run is over for this process: its deadline passed, somebody else has it or ended it, or the process is to stop. Every
 * step under way ends with this, as the reason of the run's signal.
 */
export class RunEnded extends Error {
  constructor(readonly why: 'deadline' | 'taken' | 'stopped') {
    super(`The run is over here: ${why}.`);
  }
}

/** A conversation cannot be brought to its end, for a reason that is told as its result. */
export class ConversationFailed extends Error {
  constructor(readonly failure: Failure) {
    super(`The conversation was given up: ${failure}.`);
  }
}

/** How a conversation ended. `status` is what a provider answered that failed, for the log. */
export type Conclusion = { readonly answer: string } | { readonly failure: Failure; readonly status?: number };

/** The end of a conversation as a value. What is none of an agent's own failures is thrown on. */
export async function toConclusion(conversation: () => Promise<string>): Promise<Conclusion> {
  try {
    return { answer: await conversation() };
  } catch (fault) {
    const failure = failureIn(fault);
    const status = fault instanceof ModelFailed ? fault.status : undefined;
    return status === undefined ? { failure } : { failure, status };
  }
}

function failureIn(fault: unknown): Failure {
  if (fault instanceof ConversationFailed) return fault.failure;
  if (fault instanceof ModelFailed) return 'model_failed';
  if (fault instanceof CredentialMissing) return 'credential_missing';
  throw fault;
}

/** The outcome of work, or the signal's reason as soon as it is aborted. */
export async function within<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  let end = (): void => undefined;
  const ended = new Promise<never>((_, reject) => {
    // Whoever aborts a run's signal gives a RunEnded as its reason.
    end = () => reject(signal.reason as Error);
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
