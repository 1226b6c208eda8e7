-- Every event as it was stored: personal fields stay sealed, so that erasing an owner's key erases them here too.
create table audit_events (
  owner_id text not null,
  position bigint not null,
  stream text not null,
  revision bigint not null,
  type text not null,
  event_id uuid not null,
  actor jsonb not null,
  correlation_id text not null,
  causation_id text,
  at timestamptz not null,
  data jsonb not null,
  metadata jsonb not null,
  digest text not null,
  hash text not null,
  primary key (owner_id, position)
);
-- By id alone: with the owner in front, a plan made while the table was empty may read all of an owner's rows instead.
create unique index on audit_events (event_id);
create index on audit_events (position);
create index on audit_events (stream, position);
create index on audit_events (owner_id, correlation_id);
create index on audit_events (at) where type = 'scratchpad.deleted';

-- The end of each tenant's hash chain.
create table audit_heads (
  owner_id text primary key,
  hash text not null,
  events bigint not null
);
