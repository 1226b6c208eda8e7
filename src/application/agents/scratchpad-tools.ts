import { z } from 'zod';
import { isRefusal } from '../../domain/kernel/refusal.js';
import type { PadRole } from '../../domain/kernel/roles.js';
import type { Success } from '../gateway/gateway.js';
import { operations } from '../registry.js';
import type { Act } from './act-as-agent.js';
import type { Tool } from './conversation.js';

/** The registry's tools on the work's scratchpad, as far as the role may use them. */
export const scratchpadTools = (role: PadRole, act: Act): readonly Tool[] =>
  operations
    .filter(({ tool, actsAs }) => tool?.type === 'scratchpad' && (actsAs === undefined || actsAs === role))
    .map((operation) => ({
      name: operation.name,
      description: operation.summary,
      inputSchema: schemaOf(operation.input),
      use: async (input, step) => {
        const result = await act(operation, input, step);
        return isRefusal(result) ? `error: ${result.refused}: ${result.message}` : textOf(result);
      },
    }));

export const schemaOf = (input: z.ZodType): Readonly<Record<string, unknown>> => z.toJSONSchema(input, { io: 'input' });

const textOf = ({ data }: Success): string => (isText(data) ? data.text : JSON.stringify(data));

const isText = (data: unknown): data is { readonly text: string } =>
  typeof data === 'object' && data !== null && 'text' in data && typeof data.text === 'string';
