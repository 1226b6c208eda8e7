import type { Failure } from '../../domain/research/events.js';
import { CredentialMissing, ModelFailed } from '../ports/models.js';

/** A conversation cannot come to an answer; `failure` is recorded as its result. */
export class ConversationFailed extends Error {
  constructor(readonly failure: Failure) {
    super(`The conversation failed: ${failure}.`);
  }
}

/** How a conversation ended. `status` is the HTTP status of a provider that failed, for the log. */
export type Conclusion = { readonly answer: string } | { readonly failure: Failure; readonly status?: number };

/** Turns the end of a conversation into a value. Errors that are not a failure of the agent itself pass through. */
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
