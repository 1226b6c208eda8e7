import { z } from 'zod';
import { operation } from '../../operation/operation.js';

export const listHarnesses = operation({
  name: 'harness.list',
  kind: 'list',
  summary: 'List the harnesses that agents can be enrolled into, and the providers that each takes.',
  http: 'GET /v1/harnesses',
  scope: 'agents:read',
  input: z.strictObject({}),
  output: z.object({
    name: z.string(),
    description: z.string(),
    providers: z.union([z.literal('any'), z.array(z.string())]),
  }),
  refuses: [],
  uses: ['harnesses'],
  run: async (_, _context, { harnesses }) => ({
    items: (await harnesses.list()).map(({ name, description, providers }) => ({
      name,
      description,
      providers: providers === 'any' ? providers : [...providers],
    })),
    nextCursor: null,
  }),
});
