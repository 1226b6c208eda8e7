create table ownerless (id text primary key);
