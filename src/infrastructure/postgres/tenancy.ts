import { escapeIdentifier, type ClientBase } from 'pg';
import { StartupError } from '../startup-error.js';

/** The setting that names the tenant for the length of one transaction. */
export const tenantSetting = 'palimpsest.owner';

/**
 * Puts tables of a schema under row-level security that even their owner stands under: the app role sees rows of the
 * tenant that its transaction names, the owner sees all.
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
    await client.query(tenancyOf(`${escapeIdentifier(schema)}.${escapeIdentifier(table)}`, escapeIdentifier(appRole)));
  }
}

/** Secures a table that is not under row-level security yet. Why: what was changed by hand since is reported, not undone. */
export async function secureOnce(client: ClientBase, schema: string, table: string, appRole: string): Promise<void> {
  const { rows } = await client.query<{ secured: boolean }>(
    'select relrowsecurity as secured from pg_class where relname = $1 and relnamespace = $2::regnamespace',
    [table, schema],
  );
  if (rows[0]?.secured !== true) await secureTables(client, schema, [table], appRole);
}

/** The statements that secure a table; both names are quoted. */
export const tenancyOf = (table: string, role: string): string => `
  alter table ${table} enable row level security, force row level security;
  create policy tenant on ${table} for select to ${role} using (owner_id = current_setting('${tenantSetting}', true));
  create policy system on ${table} to current_user using (true) with check (true);
  revoke all on ${table} from public, ${role};
  grant select on ${table} to ${role};`;

async function hasOwner(client: ClientBase, schema: string, table: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from information_schema.columns where table_schema = $1 and table_name = $2
     and column_name = 'owner_id' and data_type = 'text' and is_nullable = 'NO'`,
    [schema, table],
  );
  return rowCount === 1;
}
