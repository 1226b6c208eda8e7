import { z } from 'zod';
import { credentialModes } from '../../../domain/agent/events.js';
import { id, time, uuidId } from '../../kernel/schemas.js';

/** An enrolled agent as everyone who may see it does: no credential is part of it, only which one it uses. */
export const agentShape = z.object({
  id: uuidId(),
  name: z.string(),
  harness: z.string(),
  provider: z.string(),
  model: z.string(),
  persona: z.string().nullable(),
  credentialMode: z.enum(credentialModes),
  ownerId: id('user'),
  enrolledAt: time(),
});

/** An agent of which not every one was enrolled. */
export const anyAgentShape = agentShape.extend({
  harness: agentShape.shape.harness.nullable(),
  credentialMode: agentShape.shape.credentialMode.nullable(),
  enrolledAt: agentShape.shape.enrolledAt.nullable(),
});
