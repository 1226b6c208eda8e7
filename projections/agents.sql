create table agents (
  id text primary key,
  owner_id text not null,
  name text not null,
  -- Null on an agent that was never enrolled, like the other two: enrolling is what gives it one.
  harness text,
  provider text not null,
  model text not null,
  persona text,
  credential_mode text,
  enrolled_at timestamptz,
  position bigint not null
);
create index on agents (owner_id, position);
create index on agents (owner_id, provider);
