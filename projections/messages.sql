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
