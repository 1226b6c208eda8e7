import { z } from 'zod';
import { listAgents as find } from '../../../../projections/agents.js';
import { listPage } from '../../operation/list-page.js';
import { operation } from '../../operation/operation.js';
import { paging } from '../../kernel/schemas.js';
import { anyAgentShape } from './shapes.js';

export const listAgents = operation({
  name: 'agent.list',
  kind: 'list',
  summary: 'List your agents.',
  http: 'GET /v1/agents',
  scope: 'agents:read',
  input: z.strictObject(paging),
  output: anyAgentShape,
  refuses: [],
  run: (input, { tenant, cursors }) =>
    listPage(cursors, 'agent.list', {}, input, (page) => find(tenant.reads, tenant.id, page)),
});
