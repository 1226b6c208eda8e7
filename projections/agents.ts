import { z } from 'zod';
import { credentialModes, type AgentEvent } from '../src/domain/agent/events.js';
import type { UserEvent } from '../src/domain/user/events.js';
import { stretch, type Stretch } from './page.js';
import { projection } from './projection.js';
import { all, first, type Rows } from './rows.js';
import { sql } from './sql.js';

/** Agents that are enrolled. There is no column for a credential: only for how it was named. */
export const agents = projection<AgentEvent | UserEvent>({
  name: 'agents',
  schema: 'agents.sql',
  tables: ['agents'],
  on: {
    'agent.enrolled': (
      { agentId, name, harness, provider, model, persona, credentialMode },
      { ownerId, at, position },
    ) => sql`
      insert into agents (id, owner_id, name, harness, provider, model, persona, credential_mode, enrolled_at, position)
      values (${agentId}, ${ownerId}, ${name}, ${harness}, ${provider}, ${model}, ${persona}, ${credentialMode}, ${at},
        ${position})
      on conflict (id) do nothing`,
    'agent.retired': ({ agentId }, { ownerId }) => sql`
      delete from agents where owner_id = ${ownerId} and id = ${agentId}`,
    'user.erased': ({ userId }) => sql`delete from agents where owner_id = ${userId}`,
  },
});

const agentRow = z.object({
  id: z.string(),
  name: z.string(),
  harness: z.string(),
  provider: z.string(),
  model: z.string(),
  persona: z.string().nullable(),
  credentialMode: z.enum(credentialModes),
  ownerId: z.string(),
  enrolledAt: z.string(),
  position: z.string(),
});

const columns = sql`id, name, harness, provider, model, persona, credential_mode as "credentialMode",
  owner_id as "ownerId", enrolled_at as "enrolledAt", position`;

/** An agent by its id; without an owner: anybody's (administrators only). */
export const findAgent = async (db: Rows, ownerId: string | undefined, id: string) =>
  first(
    agentRow,
    await db.rows(
      ownerId === undefined
        ? sql`select ${columns} from agents where id = ${id}`
        : sql`select ${columns} from agents where owner_id = ${ownerId} and id = ${id}`,
    ),
  );

export const listAgents = async (db: Rows, ownerId: string, page: Stretch) =>
  all(agentRow, await db.rows(sql`select ${columns} from agents where owner_id = ${ownerId} ${stretch(page)}`));
