-- Which event log the rows belong to, and how far that log has been seen. One row.
create table log_binding (
  only_row boolean primary key default true check (only_row),
  log_id uuid not null,
  position bigint not null
);
