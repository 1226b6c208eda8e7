create table keys (
  id text primary key,
  owner_id text not null,
  workspace_id text not null,
  name text not null,
  display text not null,
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  pad jsonb,
  agent_id text,
  position bigint not null
);
create index on keys (owner_id, position);

-- Erased owners: what is stored about them around the erasure and later is not shown.
create table erased_key_owners (
  owner_id text primary key
);
