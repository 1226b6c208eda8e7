create table users (
  id text primary key,
  owner_id text not null,
  name text not null,
  role text not null,
  workspace_id text not null,
  created_at timestamptz not null
);

create table threads (
  id text primary key,
  owner_id text not null references users (id) on delete cascade,
  title text,
  metadata jsonb not null,
  scratchpad_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  position bigint not null
);
create index on threads (owner_id, position);

create table messages (
  id text primary key,
  owner_id text not null references users (id) on delete cascade,
  thread_id text not null references threads (id) on delete cascade,
  index integer not null,
  role text not null,
  content text not null,
  author jsonb not null,
  created_at timestamptz not null,
  position bigint not null
);
create index on messages (thread_id, position);
create index on messages (owner_id);

create table scratchpads (
  id text primary key,
  owner_id text not null references users (id) on delete cascade,
  thread_id text not null unique references threads (id) on delete cascade,
  metadata jsonb not null,
  content_revision integer not null,
  entry_count integer not null,
  -- Of the ledger since its last clear: how many clears there were, every index that was told of, and of these the ones
  -- that hold no entry.
  clears integer not null default 0,
  told int4multirange not null default '{}',
  gaps int4multirange not null default '{}',
  missing integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  position bigint not null
);
create index on scratchpads (owner_id, position);
