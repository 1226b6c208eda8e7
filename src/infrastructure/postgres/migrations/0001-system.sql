-- How far each read model is. They move together; one that is behind the others is rebuilt (projector/).
create table projections (
  name text primary key,
  -- What the tables were made from and are filled by; another one means: rebuild.
  form text not null,
  tables text[] not null,
  -- The last event in the rows; -1: none yet.
  position bigint not null default -1
);

-- Moves every read model named from one position to the next, or refuses when another projector did so before.
create function advance(names text[], old_position bigint, new_position bigint, tell boolean) returns void
language plpgsql as $$
declare moved integer;
begin
  update palimpsest.projections set position = new_position where name = any(names) and position = old_position;
  get diagnostics moved = row_count;
  if moved <> cardinality(names) then
    raise exception 'another projector is active' using errcode = 'PL001';
  end if;
  if tell then
    perform pg_notify('palimpsest_projected', new_position::text);
  end if;
end $$;

-- A hash chain as an aggregate: each link is the hash of the one before it (`head` before the first) and of an item.
create function chain_link(state text, head text, item text) returns text
language sql immutable parallel safe as $$
  select encode(sha256(convert_to(coalesce(state, head) || '|' || item, 'UTF8')), 'hex')
$$;
create aggregate chain(head text, item text) (sfunc = palimpsest.chain_link, stype = text);

-- Streams that a read model could not follow: from where on, and why. Never what the event says.
create table parked_streams (
  projection text not null,
  stream text not null,
  revision bigint not null,
  position bigint not null,
  event_id text not null,
  event_type text not null,
  fault text not null,
  parked_at timestamptz not null default now(),
  primary key (projection, stream)
);

-- Work asked of whichever process has the active projector.
create table projector_requests (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('rebuild', 'retry')),
  projection text not null,
  state text not null default 'asked' check (state in ('asked', 'done', 'failed')),
  events bigint,
  position bigint,
  asked_at timestamptz not null default now()
);

create table reaction_checkpoints (
  name text primary key,
  position bigint not null
);

-- Events that a reaction gave up on after many tries.
create table parked_reactions (
  set_name text not null,
  reaction text not null,
  event_id text not null,
  stream text not null,
  revision bigint not null,
  position bigint not null,
  event_type text not null,
  fault text not null,
  parked_at timestamptz not null default now(),
  primary key (set_name, reaction, event_id)
);

-- Data keys, wrapped by the KEK. A destroyed key stays as a tombstone without its bytes.
create table subject_keys (
  owner_id text primary key,
  kek_id text not null,
  wrapped bytea,
  created_at timestamptz not null default now(),
  destroyed_at timestamptz,
  check ((wrapped is null) = (destroyed_at is not null))
);

create table snapshots (
  stream text primary key,
  owner_id text not null,
  revision bigint not null,
  version integer not null,
  state jsonb not null,
  keys jsonb not null,
  saved_at timestamptz not null default now()
);
create index on snapshots (owner_id);

-- Written behind by the API processes; beside the read models because the keys' own read model joins it.
create table read_models.key_usage (
  key_id text primary key,
  owner_id text not null,
  last_used_at timestamptz not null
);
