create table trail (
  position bigint primary key,
  owner_id text not null,
  event_id text not null,
  type text not null,
  stream text not null,
  revision bigint not null,
  digest text not null
);
