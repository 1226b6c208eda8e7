import { z } from 'zod';
import { cancellations, failures } from '../../../domain/research/events.js';
import { id, time, uuidId } from '../../kernel/schemas.js';

export const limitsShape = z.object({
  maxTurns: z.number().int(),
  maxCalls: z.number().int(),
  deadlineSeconds: z.number().int(),
});

export const researchShape = z.object({
  id: id('research'),
  threadId: id('thread'),
  scratchpadId: id('scratchpad').meta({ description: 'What supervisor and workers share.' }),
  question: z.string(),
  supervisorAgentId: uuidId(),
  supervisorThreadId: id('thread').meta({ description: 'The conversation of the supervisor.' }),
  workerAgentIds: z.array(uuidId()),
  limits: limitsShape,
  deadlineAt: time(),
  status: z.enum(['queued', 'running', 'completed', 'failed', 'cancelled']),
  attempt: z.number().int().meta({ description: 'How often it was taken up; more than once when a process died.' }),
  reason: z
    .enum([...failures, ...cancellations])
    .nullable()
    .meta({ description: 'Why it failed or was cancelled.' }),
  answer: z.string().nullable(),
  createdAt: time(),
  finishedAt: time().nullable(),
});

export const callShape = z.object({
  id: id('call'),
  agentId: uuidId(),
  threadId: id('thread').meta({ description: "The call's own conversation." }),
  status: z.enum(['open', 'succeeded', 'failed']),
  failure: z.enum(failures).nullable(),
  delegatedAt: time(),
  finishedAt: time().nullable(),
});
