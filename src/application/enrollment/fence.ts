import type { Fence } from '../../domain/agent/events.js';
import type { Caller } from '../access/caller.js';
import { derivedUuid } from '../kernel/ids.js';

export const enrollOperation = 'agent.enroll';

/** Raise it when the digest is taken of something else; what was recorded under an earlier form then collides. */
const digestForm = 1;

/**
 * The agent that a key enrolls. Neither tenant nor actor is part of it, so that the pair (operation, key) is unique for
 * all of them. An attempt that was abandoned is followed by the next.
 */
export const agentIdOf = (key: string, attempt: number): string => derivedUuid(enrollOperation, key, String(attempt));

/** A fence without its outcome. */
export type Submission = Omit<Fence, 'outcome'>;

/** What this caller's submission records, or is compared by. Enrollment needs no grant: its scope is the user's own. */
export const fenceOf = (
  { userId }: Caller,
  { key, digest }: { readonly key: string; readonly digest: string },
  replayMode: Fence['replayMode'],
): Submission => ({
  operation: enrollOperation,
  key,
  principal: userId,
  scope: `user:${userId}`,
  digest,
  digestForm,
  replayMode,
});
