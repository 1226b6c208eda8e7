-- What is counted of a scratchpad's ledger since its last clear: how many clears there were, every index that an event
-- names, and of these the ones that hold no entry.
alter table scratchpads
  add column entry_count integer not null default 0,
  add column generation integer not null default 0,
  add column covered int4multirange not null default '{}',
  add column holes int4multirange not null default '{}',
  add column hole_count integer not null default 0;
