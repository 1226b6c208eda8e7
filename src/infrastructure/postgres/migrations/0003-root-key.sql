-- What every key of the installation but the KEK derives from: made once, wrapped by the KEK, so that a new KEK changes
-- no API key, cursor or role.
create table root_key (
  singleton boolean primary key default true check (singleton),
  kms text not null,
  kek integer not null,
  wrapped bytea not null,
  created_at timestamptz not null default now()
);
