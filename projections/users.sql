create table users (
  id text primary key,
  owner_id text not null,
  name text not null,
  role text not null,
  workspace_id text not null,
  created_at timestamptz not null
);
