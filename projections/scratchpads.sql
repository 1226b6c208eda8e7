create table scratchpads (
  id text primary key,
  owner_id text not null references users (id) on delete cascade,
  thread_id text not null unique references threads (id) on delete cascade,
  metadata jsonb not null,
  content_revision integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  position bigint not null
);
create index on scratchpads (owner_id, position);
