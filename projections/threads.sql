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
