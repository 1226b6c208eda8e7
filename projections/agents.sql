create table agents (
  id text primary key,
  owner_id text not null,
  name text not null,
  harness text not null,
  provider text not null,
  model text not null,
  persona text,
  credential_mode text not null,
  enrolled_at timestamptz not null,
  position bigint not null
);
create index on agents (owner_id, position);
create index on agents (owner_id, provider);
