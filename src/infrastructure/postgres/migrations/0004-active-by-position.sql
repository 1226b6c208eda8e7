-- Which version of a credential is the active one follows from where the enrollments that brought them stand in the log:
-- it is the latest. So a version is activated by one write to its own row, and no two can be active whatever happens.
drop index sealed_credentials_owner_id_provider_event_position_idx;
drop index one_active_credential;
drop index sealed_credentials_created_at_idx;
-- Every key encryption key in use is asked for at a start and by a rotation, and both read the whole table.
drop index sealed_credentials_kms_kek_idx;
alter table sealed_credentials drop column status, drop column activated_at, drop column retired_at;
create unique index one_version_an_event on sealed_credentials (owner_id, provider, event_position);
create index on sealed_credentials (created_at) where event_position is null;

-- For people and tests: what each version is.
create view credential_versions as
  select id, owner_id, provider, credential_id, agent_id, event_position, kms, kek, created_at,
    case
      when event_position is null then 'staged'
      when event_position = max(event_position) over (partition by owner_id, provider) then 'active'
      else 'retired'
    end as status
  from sealed_credentials;
