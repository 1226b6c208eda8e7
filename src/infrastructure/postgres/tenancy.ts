import { escapeIdentifier, type ClientBase } from 'pg';
import { StartupError } from '../startup-error.js';
import { readModelSchema } from './database.js';

/** The setting that names the tenant for the length of one transaction. */
export const tenantSetting = 'palimpsest.owner';

/**
 * Puts tables of a schema under row-level security that even their owner stands under: the app role sees rows of the
 * tenant that its transaction names, the owner sees all. It can be repeated.
 */
export async function secureTables(
  client: ClientBase,
  schema: string,
  tables: readonly string[],
  appRole: string,
): Promise<void> {
  for (const table of tables) {
    if (!(await hasOwner(client, schema, table))) {
      throw new StartupError(`The read model table ${table} has no column "owner_id text not null".`);
    }
    const name = `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`;
    const role = escapeIdentifier(appRole);
    await client.query(`
      alter table ${name} enable row level security, force row level security;
      drop policy if exists tenant on ${name};
      drop policy if exists system on ${name};
      create policy tenant on ${name} for select to ${role} using (owner_id = current_setting('${tenantSetting}', true));
      create policy system on ${name} to current_user using (true) with check (true);
      revoke all on ${name} from public, ${role};
      grant select on ${name} to ${role};`);
  }
}

async function hasOwner(client: ClientBase, schema: string, table: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from information_schema.columns where table_schema = $1 and table_name = $2
     and column_name = 'owner_id' and data_type = 'text' and is_nullable = 'NO'`,
    [schema, table],
  );
  return rowCount === 1;
}

/**
 * Refuses a start in which row-level security would be there but without effect: an app role that owns tables, is a
 * superuser or may bypass it, or a table that does not force it.
 */
export async function assertTenancy(client: ClientBase, appRole: string): Promise<void> {
  const { rows: roles } = await client.query<{ strong: boolean; member: boolean }>(
    `select rolsuper or rolbypassrls or rolcreaterole as strong,
       pg_has_role(oid, (select nspowner from pg_namespace where nspname = $2), 'member') as member
     from pg_roles where rolname = $1`,
    [appRole, readModelSchema],
  );
  const [role] = roles;
  if (!role || role.strong || role.member) {
    throw new StartupError(
      `The database role ${appRole} is stronger than a tenant's reads may be: drop it and start again.`,
    );
  }
  const { rows: open } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind in ('r', 'p', 'v', 'm')
       and (not c.relrowsecurity or not c.relforcerowsecurity or pg_get_userbyid(c.relowner) = $2)
     order by 1 limit 1`,
    [readModelSchema, appRole],
  );
  const [table] = open;
  if (table) throw new StartupError(`The table ${readModelSchema}.${table.name} does not force row-level security.`);
}
