import { refuse, type Refusal } from '../../domain/kernel/refusal.js';
import { takesProvider } from './harnesses.js';
import type { Enrollment, EnrollmentContext } from './enrollment.js';

/** Refuses a well-formed enrollment that cannot be done now: unknown harness, provider not accepted, no credential. */
export async function checkPreconditions(
  { harness: wanted, provider, credential }: Enrollment,
  { harnesses, credentials }: Pick<EnrollmentContext, 'harnesses' | 'credentials'>,
): Promise<Refusal<'precondition_failed'> | undefined> {
  const harness = (await harnesses.list()).find(({ name }) => name === wanted);
  if (!harness) return failed('No harness of that name is registered.', 'unknown_harness', 'harness');
  if (!takesProvider(harness, provider)) {
    return failed('This harness does not take credentials of that provider.', 'provider_not_accepted', 'provider');
  }
  if (credential.mode === 'intake' || (await credentials.has(provider))) return undefined;
  return failed('You keep no credential for that provider.', 'credential_not_found', 'credential');
}

const failed = (message: string, reason: string, param: string) =>
  refuse('precondition_failed', message, { reason, param });
