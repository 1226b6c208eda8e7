import { randomUUID } from 'node:crypto';
import type { VersionRef } from '../ports/credential-vault.js';
import type { Enrollment, EnrollmentContext } from './enrollment.js';
import { checkPreconditions } from './preconditions.js';

/** A staged version of the owner that enrolls. */
export type Staged = Omit<VersionRef, 'ownerId'>;

/**
 * Stages the credential if this is the first submission under its key.
 * Why: the vault can tell, which saves reading the event store.
 * Undefined when an earlier submission is possible or a precondition fails: the caller then reads the first event.
 */
export async function stageIfFirst(agentId: string, request: Enrollment, context: EnrollmentContext) {
  if (request.credential.mode === 'reference') return undefined;
  // What cannot be checked now is checked again after the first event was read, and its fault is met there.
  const refusal = await checkPreconditions(request, context).catch(() => 'not known');
  return refusal === undefined ? stage(agentId, request, context, 'only if first') : undefined;
}

export async function stage(
  agentId: string,
  { credential, provider }: Enrollment,
  { credentials }: EnrollmentContext,
  condition?: 'only if first',
): Promise<Staged | undefined> {
  if (credential.mode === 'reference') return undefined;
  const version = { id: randomUUID(), provider, agentId };
  return (await credentials.stage(version, credential.value, condition)) ? version : undefined;
}
