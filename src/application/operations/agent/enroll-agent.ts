import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { enroll } from '../../enrollment/enroll.js';
import { enrollOperation } from '../../enrollment/fence.js';
import { operation } from '../../operation/operation.js';
import { name, secret, slug, textOfBytes, trimmedName } from '../../kernel/schemas.js';
import { agentShape } from './shapes.js';

const credential = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('reference') }),
  z.strictObject({ mode: z.literal('intake'), type: z.literal('api_key'), value: secret(8192) }),
]);

export const enrollAgent = operation({
  name: enrollOperation,
  kind: 'command',
  summary: 'Enroll an agent: a harness, a model, and a credential that is sealed and never shown again.',
  http: 'POST /v1/agents/enroll',
  scope: 'agents:write',
  uses: ['firstEvents', 'harnesses', 'tenantOf'],
  creates: true,
  requiresIdempotencyKey: true,
  replaces: true, // the credential in use for that provider
  input: z.strictObject({
    harness: slug().meta({ description: 'A harness of `harness.list`.' }),
    name: trimmedName(),
    persona: textOfBytes(65_536).nullable().default(null),
    model: name(200)
      .regex(/^[^\p{White_Space}\p{Control}]+$/u)
      .meta({ description: 'Provider-qualified model id.' }),
    provider: slug().meta({ description: 'The provider that the credential is for.' }),
    credential,
    replayMode: z.enum(['actor-bound']).default('actor-bound'),
  }),
  // Neither the secret nor how the request asks to be replayed: a retry that brings another secret is a replay.
  fingerprint: ({ harness, name, persona, model, provider, credential: { mode } }) => ({
    harness,
    name,
    persona,
    model,
    provider,
    credentialMode: mode,
  }),
  output: z.object({ result: z.literal('enrolled'), agent: agentShape }),
  refuses: ['conflict', 'precondition_failed', 'not_found'],
  codes: 'closed',
  async run(input, { caller, command, tenant }, { firstEvents, harnesses, tenantOf }) {
    const enrolled = await enroll(input, {
      caller,
      command,
      credentials: tenant.credentials,
      harnesses,
      firstEvents,
      aggregatesOf: (ownerId) => tenantOf(ownerId).aggregates,
    });
    if (isRefusal(enrolled)) return enrolled;
    return { result: 'enrolled' as const, agent: { ...enrolled, id: enrolled.agentId } };
  },
});
