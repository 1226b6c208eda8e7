-- A workspace as each of its members sees it: one row per member, owned by the member.
create table workspaces (
  owner_id text not null,
  id text not null,
  workspace_owner_id text not null,
  name text not null,
  created_at timestamptz not null,
  position bigint not null,
  primary key (owner_id, id)
);
create index on workspaces (owner_id, position);
create index on workspaces (id);
create index on workspaces (workspace_owner_id);

-- Erased owners: what is stored about them around the erasure and later is not shown.
create table erased_members (
  owner_id text primary key
);
