import { z } from 'zod';
import { refuse } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';

export const rebuildProjection = operation({
  name: 'projection.rebuild',
  kind: 'command',
  summary: 'Rebuild a read model from the log beside the live one, then swap them; reads never see it empty.',
  http: 'POST /v1/projections/{name}/rebuild',
  scope: 'projections:write',
  roles: ['admin'],
  input: z.strictObject({ name: z.string().regex(/^[a-z_]{1,64}$/) }),
  output: z.object({ name: z.string(), events: z.number().int(), position: z.string() }),
  refuses: ['not_found'],
  uses: ['projections'],
  run: async ({ name }, _context, { projections }) => (await projections.rebuild(name)) ?? refuse('not_found'),
});
