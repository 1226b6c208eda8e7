create table notes (
  id text primary key,
  owner_id text not null,
  title text,
  changes bigint not null,
  changed_at timestamptz not null,
  position bigint not null
);
create index on notes (owner_id, position);
