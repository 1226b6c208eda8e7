import { z } from 'zod';
import { cancellations, failures, type ResearchEvent } from '../src/domain/research/events.js';
import type { ThreadEvent } from '../src/domain/thread/events.js';
import type { UserEvent } from '../src/domain/user/events.js';
import { pageClause, type PageRequest } from './kit/page.js';
import { projection } from './kit/projection.js';
import { all, first, type ReadDb } from './kit/read-db.js';
import { sql } from './kit/sql.js';

/** Runs of research, and the calls that were delegated in them. */
export const research = projection<ResearchEvent | ThreadEvent | UserEvent>({
  name: 'research',
  schema: 'research.sql',
  tables: ['research_runs', 'research_calls'],
  on: {
    'research.started': (e, { ownerId, at, position }) => sql`
      insert into research_runs (id, owner_id, thread_id, scratchpad_id, question, supervisor_agent_id,
        supervisor_thread_id, worker_agent_ids, limits, deadline_at, status, attempt, created_at, position)
      values (${e.researchId}, ${ownerId}, ${e.threadId}, ${e.scratchpadId}, ${e.question}, ${e.supervisorAgentId},
        ${e.supervisorThreadId}, ${e.workerAgentIds}, ${e.limits}, ${e.deadlineAt}, 'queued', 0, ${at}, ${position})
      on conflict (id) do nothing`,
    'research.claimed': ({ researchId, attempt }, { ownerId }) => sql`
      update research_runs set status = 'running', attempt = ${attempt}
      where owner_id = ${ownerId} and id = ${researchId}`,
    'research.delegated': ({ researchId, callId, agentId, threadId }, { ownerId, at, position }) => sql`
      insert into research_calls (id, owner_id, run_id, agent_id, thread_id, status, delegated_at, position)
      select ${callId}, ${ownerId}, ${researchId}, ${agentId}, ${threadId}, 'open', ${at}, ${position}
      where exists (select from research_runs where owner_id = ${ownerId} and id = ${researchId})
      on conflict (id) do nothing`,
    'research.call_finished': ({ callId, outcome, failure }, { ownerId, at }) => sql`
      update research_calls set status = ${outcome}, failure = ${failure ?? null}, finished_at = ${at}
      where owner_id = ${ownerId} and id = ${callId}`,
    'research.completed': ({ researchId, answer }, { ownerId, at }) => sql`
      update research_runs set status = 'completed', answer = ${answer}, finished_at = ${at}
      where owner_id = ${ownerId} and id = ${researchId}`,
    'research.failed': ({ researchId, reason }, { ownerId, at }) => sql`
      update research_runs set status = 'failed', reason = ${reason}, finished_at = ${at}
      where owner_id = ${ownerId} and id = ${researchId}`,
    // With its thread or its owner a run is gone, also when it began around that.
    'research.cancelled': ({ researchId, reason }, { ownerId, at }) =>
      reason === 'owner_erased' || reason === 'thread_deleted'
        ? sql`delete from research_runs where owner_id = ${ownerId} and id = ${researchId}`
        : sql`
          update research_runs set status = 'cancelled', reason = ${reason}, finished_at = ${at}
          where owner_id = ${ownerId} and id = ${researchId}`,
    'thread.deleted': ({ threadId }, { ownerId }) => sql`
      delete from research_runs where owner_id = ${ownerId} and thread_id = ${threadId}`,
    'user.erased': ({ userId }) => sql`delete from research_runs where owner_id = ${userId}`,
  },
});

const runRow = z.object({
  id: z.string(),
  threadId: z.string(),
  scratchpadId: z.string(),
  question: z.string(),
  supervisorAgentId: z.string(),
  supervisorThreadId: z.string(),
  workerAgentIds: z.array(z.string()),
  limits: z.object({ maxTurns: z.number(), maxCalls: z.number(), deadlineSeconds: z.number() }),
  deadlineAt: z.string(),
  status: z.enum(['queued', 'running', 'completed', 'failed', 'cancelled']),
  attempt: z.number(),
  reason: z.enum([...failures, ...cancellations]).nullable(),
  answer: z.string().nullable(),
  createdAt: z.string(),
  finishedAt: z.string().nullable(),
  position: z.string(),
});

const callRow = z.object({
  id: z.string(),
  agentId: z.string(),
  threadId: z.string(),
  status: z.enum(['open', 'succeeded', 'failed']),
  failure: z.enum(failures).nullable(),
  delegatedAt: z.string(),
  finishedAt: z.string().nullable(),
});

const columns = sql`id, thread_id as "threadId", scratchpad_id as "scratchpadId", question,
  supervisor_agent_id as "supervisorAgentId", supervisor_thread_id as "supervisorThreadId",
  worker_agent_ids as "workerAgentIds", limits, deadline_at as "deadlineAt", status, attempt, reason, answer,
  created_at as "createdAt", finished_at as "finishedAt", position`;

export const findResearch = async (db: ReadDb, ownerId: string, id: string) =>
  first(runRow, await db.rows(sql`select ${columns} from research_runs where owner_id = ${ownerId} and id = ${id}`));

/** The calls of a run, in the order in which they were delegated. */
export const callsOf = async (db: ReadDb, ownerId: string, id: string) =>
  all(
    callRow,
    await db.rows(sql`
      select id, agent_id as "agentId", thread_id as "threadId", status, failure, delegated_at as "delegatedAt",
        finished_at as "finishedAt"
      from research_calls where owner_id = ${ownerId} and run_id = ${id} order by position, id`),
  );

export const listResearch = async (db: ReadDb, ownerId: string, page: PageRequest) =>
  all(runRow, await db.rows(sql`select ${columns} from research_runs where owner_id = ${ownerId} ${pageClause(page)}`));

/** Runs of anybody that have not ended. */
export const openResearch = async (db: ReadDb, limit: number): Promise<readonly string[]> =>
  all(
    z.object({ id: z.string() }),
    await db.rows(sql`select id from research_runs where finished_at is null order by id limit ${limit}`),
  ).map(({ id }) => id);
