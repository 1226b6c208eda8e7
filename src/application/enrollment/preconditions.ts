import { refuse, type Refusal } from '../../domain/kernel/refusal.js';
import type { OperationContext } from '../operation/context.js';
import { takesProvider } from '../ports/harnesses.js';
import type { Enrollment } from './enroll.js';
import { resolveAllStaged } from './staged-versions.js';

/** What keeps a well-formed enrollment from being done now, if anything does. */
export async function checkPreconditions(
  { harness: named, provider, credential }: Enrollment,
  { harnesses, vault, streams, caller }: OperationContext,
): Promise<Refusal<'precondition_failed'> | undefined> {
  const harness = (await harnesses.list()).find(({ name }) => name === named);
  if (!harness) return unmet('No harness of that name is registered.', 'unknown_harness', 'harness');
  if (!takesProvider(harness, provider)) {
    return unmet('This harness does not take credentials of that provider.', 'provider_not_accepted', 'provider');
  }
  if (credential.mode === 'intake' || (await vault.has(caller.userId, provider))) return undefined;
  // A version whose enrollment is committed counts, also before it was made the active one.
  await resolveAllStaged(caller.userId, provider, { streams, vault });
  if (await vault.has(caller.userId, provider)) return undefined;
  return unmet('You keep no credential for that provider.', 'credential_not_found', 'credential');
}

const unmet = (message: string, reason: string, param: string) =>
  refuse('precondition_failed', message, { reason, param });
