-- Provider credentials, each value a version of its own, sealed under a data key that a KEK wraps. Everything that names
-- the row is authenticated with it, so that bytes of one row do not open in another.
create table sealed_credentials (
  id text primary key,
  owner_id text not null,
  provider text not null,
  -- The credential that this is a version of.
  credential_id text not null,
  -- The enrollment whose stream decides over the version.
  agent_id text not null,
  status text not null default 'staged' check (status in ('staged', 'active', 'retired')),
  -- Position of `agent.enrolled`; null until it is known.
  event_position bigint,
  form smallint not null,
  nonce bytea not null,
  ciphertext bytea not null,
  tag bytea not null,
  wrapped_key bytea not null,
  kms text not null,
  kek integer not null,
  created_at timestamptz not null default now(),
  activated_at timestamptz,
  retired_at timestamptz,
  check ((status = 'staged') = (event_position is null))
);
create unique index one_active_credential on sealed_credentials (owner_id, provider) where status = 'active';
create index on sealed_credentials (owner_id, provider, event_position);
create index on sealed_credentials (created_at) where status = 'staged';
create index on sealed_credentials (kms, kek);

-- The oldest KEK of each KMS that may still open anything: raised when a rotation has left none behind.
create table kek_minimums (
  kms text primary key,
  minimum integer not null
);
