import { z } from 'zod';
import { credentialModes, type AgentEvent } from '../src/domain/agent/events.js';
import type { UserEvent } from '../src/domain/user/events.js';
import { pageClause, type PageRequest } from './kit/page.js';
import { projection } from './kit/projection.js';
import { all, first, type ReadDb } from './kit/read-db.js';
import { perRow, sql } from './kit/sql.js';

/** The one registry of agents. There is no column for a credential: only for how it was named. */
export const agents = projection<AgentEvent | UserEvent>({
  name: 'agents',
  schema: 'agents.sql',
  tables: ['agents'],
  on: {
    'agent.enrolled': (
      { agentId, name, harness, provider, model, persona, credentialMode },
      { ownerId, at, position },
    ) =>
      perRow(enrolled, {
        id: agentId,
        owner_id: ownerId,
        name,
        harness,
        provider,
        model,
        persona,
        credential_mode: credentialMode,
        enrolled_at: at,
        position: String(position),
      }),
    'agent.retired': ({ agentId }, { ownerId }) => sql`
      delete from agents where owner_id = ${ownerId} and id = ${agentId}`,
    'user.erased': ({ userId }) => sql`delete from agents where owner_id = ${userId}`,
  },
});

const enrolled = (rows: string) => sql`
  insert into agents (id, owner_id, name, harness, provider, model, persona, credential_mode, enrolled_at, position)
  select id, owner_id, name, harness, provider, model, persona, credential_mode, enrolled_at, position
  from json_to_recordset(${rows}::json) as row (id text, owner_id text, name text, harness text, provider text,
    model text, persona text, credential_mode text, enrolled_at timestamptz, position bigint)
  on conflict (id) do nothing`;

const agentRow = z.object({
  id: z.string(),
  name: z.string(),
  harness: z.string().nullable(),
  provider: z.string(),
  model: z.string(),
  persona: z.string().nullable(),
  credentialMode: z.enum(credentialModes).nullable(),
  ownerId: z.string(),
  enrolledAt: z.string().nullable(),
  position: z.string(),
});
const enrolledRow = agentRow.extend({
  harness: z.string(),
  credentialMode: z.enum(credentialModes),
  enrolledAt: z.string(),
});

const columns = sql`id, name, harness, provider, model, persona, credential_mode as "credentialMode",
  owner_id as "ownerId", enrolled_at as "enrolledAt", position`;

/** Finds an enrolled agent by its id; without an owner, that of any owner (administrators only). */
export const findAgent = async (db: ReadDb, ownerId: string | undefined, id: string) =>
  first(
    enrolledRow,
    await db.rows(
      ownerId === undefined
        ? sql`select ${columns} from agents where id = ${id} and enrolled_at is not null`
        : sql`select ${columns} from agents where owner_id = ${ownerId} and id = ${id} and enrolled_at is not null`,
    ),
  );

/** Finds an agent, enrolled or not. */
export const listAgents = async (db: ReadDb, ownerId: string, page: PageRequest) =>
  all(agentRow, await db.rows(sql`select ${columns} from agents where owner_id = ${ownerId} ${pageClause(page)}`));
