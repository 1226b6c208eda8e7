create table credentials (
  id text primary key,
  owner_id text not null,
  provider text not null,
  created_at timestamptz not null,
  rotated_at timestamptz,
  -- Position of the enrollment that brought the version in use.
  latest bigint not null,
  position bigint not null
);
create index on credentials (owner_id, position);

-- Erased owners: what is stored about them around the erasure and later is not shown.
create table erased_credential_owners (
  owner_id text primary key
);
