import { escapeIdentifier, type ClientBase } from 'pg';
import { StartupError } from '../startup-error.js';
import { readModelSchema } from './database.js';
import { tenancyOf, tenantSetting } from './tenancy.js';
import { inTransaction } from './transaction.js';

/** Differences that the message lists; there may be more. */
const listedAtMost = 12;

/**
 * Compares the tenancy of a database by content with what this version makes: attributes and memberships of the app role,
 * owners, row-level security and policies of every read model's table, and everything that the app role and the public may do.
 * Fails when: anything differs → StartupError that lists the differences (docs/decisions/0066-tenancy-by-content.md).
 */
export async function assertTenancy(client: ClientBase, appRole: string): Promise<void> {
  const differences = [
    ...(await ofRole(client, appRole)),
    ...(await ofTables(client)),
    ...(await ofPolicies(client, appRole)),
    ...(await ofGrants(client, appRole)),
  ];
  if (differences.length === 0) return;
  const more = differences.length > listedAtMost ? `; and ${differences.length - listedAtMost} more` : '';
  throw new StartupError(
    `The database does not keep tenants apart as it should: ${differences.slice(0, listedAtMost).join('; ')}${more}. ` +
      'Undo this by hand, then start again.',
  );
}

async function lines(client: ClientBase, text: string, ...values: unknown[]): Promise<readonly string[]> {
  const { rows } = await client.query<{ line: string }>(text, values);
  return rows.map(({ line }) => line);
}

const ofRole = async (client: ClientBase, appRole: string): Promise<readonly string[]> => [
  ...(await lines(
    client,
    `select 'the role ' || rolname || ' has ' || attribute as line
     from pg_roles, lateral (values ('SUPERUSER', rolsuper), ('BYPASSRLS', rolbypassrls), ('CREATEROLE', rolcreaterole),
       ('CREATEDB', rolcreatedb), ('REPLICATION', rolreplication)) as held (attribute, is_held)
     where rolname = $1 and is_held order by 1`,
    appRole,
  )),
  ...(await lines(
    client,
    `select 'the role ' || $1 || ' is a member of ' || pg_get_userbyid(roleid) as line
     from pg_auth_members where member = (select oid from pg_roles where rolname = $1) order by 1`,
    appRole,
  )),
  ...(await lines(
    client,
    `select 'the role ' || $1 || ' comes with the setting ' || split_part(setting, '=', 1) as line
     from pg_db_role_setting, unnest(setconfig) as setting
     where setrole in (0, (select oid from pg_roles where rolname = $1))
       and setdatabase in (0, (select oid from pg_database where datname = current_database()))
       and split_part(setting, '=', 1) in ($2, 'role', 'search_path', 'row_security') order by 1`,
    appRole,
    tenantSetting,
  )),
];

const ofTables = (client: ClientBase): Promise<readonly string[]> =>
  lines(
    client,
    `select 'the table ' || relnamespace::regnamespace || '.' || relname || ' ' || difference as line
     from pg_class, lateral (values
       ('belongs to ' || pg_get_userbyid(relowner), pg_get_userbyid(relowner) <> current_user),
       ('is under no row-level security', not relrowsecurity and relnamespace = $1::regnamespace),
       ('does not force row-level security', not relforcerowsecurity and relnamespace = $1::regnamespace)
     ) as found (difference, is_found)
     where relnamespace in ($1::regnamespace, 'palimpsest'::regnamespace) and relkind in ('r', 'p', 'v', 'm') and is_found
     order by 1`,
    readModelSchema,
  );

/** How a policy is compared: by everything that Postgres keeps of it. */
const policyText = `polname::text || case when polpermissive then ' (permissive' else ' (restrictive' end || ', command ' || polcmd::text ||
  ', to ' || (select string_agg(case when role = 0 then 'public' else pg_get_userbyid(role)::text end, ' and ' order by role)
    from unnest(polroles) as role) ||
  ', using ' || coalesce(pg_get_expr(polqual, polrelid), 'nothing') ||
  ', check ' || coalesce(pg_get_expr(polwithcheck, polrelid), 'nothing') || ')'`;

/** The right policies are read off a table made for it. Why: each version of Postgres prints an expression in its own words. */
const ofPolicies = (client: ClientBase, appRole: string): Promise<readonly string[]> =>
  inTransaction(client, async () => {
    await client.query('create temporary table tenancy_reference (owner_id text not null) on commit drop');
    await client.query(tenancyOf('pg_temp.tenancy_reference', escapeIdentifier(appRole)));
    return lines(
      client,
      `with present as (select polrelid as relation, ${policyText} as policy from pg_policy),
         secured as (select oid as relation, relnamespace::regnamespace || '.' || relname as name from pg_class
           where relnamespace = $1::regnamespace and relkind in ('r', 'p')),
         expected as (select secured.relation, policy from secured, present
           where present.relation = 'pg_temp.tenancy_reference'::regclass)
       select 'the table ' || name || ' has the policy ' || policy as line from secured join
         (select relation, policy from present except select relation, policy from expected) as more using (relation)
       union all
       select 'the table ' || name || ' lacks the policy ' || policy from secured join
         (select relation, policy from expected except select relation, policy from present) as less using (relation)
       order by 1`,
      readModelSchema,
    );
  });

/** The app role may use the schema of the read models and select from its tables; the public may do nothing. */
const ofGrants = (client: ClientBase, appRole: string): Promise<readonly string[]> =>
  lines(
    client,
    `with held as (
       select relnamespace as schema, 'table ' || relnamespace::regnamespace || '.' || relname as what, acl.*
         from pg_class, aclexplode(relacl) as acl
       union all
       select relnamespace, 'column ' || relnamespace::regnamespace || '.' || relname || '.' || attname, acl.*
         from pg_class join pg_attribute on attrelid = pg_class.oid, aclexplode(attacl) as acl
       union all
       select oid, 'schema ' || nspname, acl.* from pg_namespace, aclexplode(nspacl) as acl),
     relevant as (
       select what, schema, privilege_type || case when is_grantable then ' with grant option' else '' end as privilege,
         case when grantee = 0 then 'public' else pg_get_userbyid(grantee)::text end as holder
       from held where schema in ($2::regnamespace, 'palimpsest'::regnamespace))
     select holder || ' has ' || privilege || ' on ' || what as line from relevant
     where holder in ('public', $1) and not (holder = $1 and schema = $2::regnamespace and (
       (what like 'table %' and privilege = 'SELECT') or (what like 'schema %' and privilege = 'USAGE')))
     order by 1`,
    appRole,
    readModelSchema,
  );
