create table research_runs (
  id text primary key,
  owner_id text not null,
  thread_id text not null,
  scratchpad_id text not null,
  question text not null,
  supervisor_agent_id text not null,
  supervisor_thread_id text not null,
  worker_agent_ids text[] not null,
  limits jsonb not null,
  deadline_at timestamptz not null,
  status text not null,
  attempt integer not null,
  -- Why it failed or was cancelled.
  reason text,
  answer text,
  created_at timestamptz not null,
  finished_at timestamptz,
  position bigint not null
);
create index on research_runs (owner_id, position);
create index on research_runs (owner_id, thread_id);
create index on research_runs (id) where finished_at is null;

create table research_calls (
  id text primary key,
  owner_id text not null,
  run_id text not null references research_runs (id) on delete cascade,
  agent_id text not null,
  thread_id text not null,
  status text not null,
  failure text,
  delegated_at timestamptz not null,
  finished_at timestamptz,
  position bigint not null
);
create index on research_calls (run_id, position);
