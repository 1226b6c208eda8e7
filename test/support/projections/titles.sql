create table titles (id text primary key, owner_id text not null);
