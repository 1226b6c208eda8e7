-- Enrollments that ever took a credential in, by the agent that their key names. Who is not here has sealed nothing under
-- that key, so a first submission need not ask the event store whether it is the first. Nothing else is decided by it.
create table begun_enrollments (
  agent_id text primary key
);

insert into begun_enrollments select distinct agent_id from sealed_credentials;
do $$
begin
  if to_regclass('read_models.audit_events') is not null then
    insert into palimpsest.begun_enrollments
      select substr(stream, 7) from read_models.audit_events where type = 'agent.enrolled' on conflict do nothing;
  end if;
end $$;
