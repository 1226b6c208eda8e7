import { z } from 'zod';
import { mostLag } from '../../ports/projection-control.js';
import { operation } from '../../operation/operation.js';

export const listProjections = operation({
  name: 'projection.list',
  kind: 'query',
  summary: 'How far each read model is, and what it had to set aside.',
  http: 'GET /v1/projections',
  scope: 'projections:read',
  roles: ['admin'],
  input: z.strictObject({}),
  output: z.array(
    z.object({
      name: z.string(),
      position: z.string(),
      lag: z
        .number()
        .int()
        .meta({ description: `Events that it does not show yet; ${mostLag} means as many or more, 0 caught up.` }),
      parked: z
        .number()
        .int()
        .meta({ description: 'Streams set aside because one of their events could not be applied.' }),
      rebuilding: z.boolean(),
    }),
  ),
  refuses: [],
  uses: ['projections'],
  run: async (_, _context, { projections }) => [...(await projections.list())],
});
