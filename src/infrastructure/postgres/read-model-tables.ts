import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { escapeIdentifier, type ClientBase } from 'pg';
import type { Projection } from '../../../projections/kit/projection.js';
import { secureTables } from './tenancy.js';

/** Where the projections' `.sql` files are, in the sources and in what is built from them alike. */
export const projectionsFolder = join(__dirname, '../../../projections');

const tablesOf = ({ schema }: Projection, folder: string): string =>
  [schema]
    .flat()
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');

/**
 * What a read model's rows depend on, as one text: its tables and the source of its handlers. When it changes, the rows
 * no longer say what a fresh build would, so the projector rebuilds it.
 */
export function formOf(projection: Projection, folder: string): string {
  const handlers = Object.entries(projection.on).map(([type, handler]) => `${type} ${String(handler)}`);
  const parts = [tablesOf(projection, folder), ...projection.tables, ...handlers, String(projection.onEvery)];
  return createHash('sha256').update(parts.join('\u0000')).digest('hex');
}

/** Makes a projection's tables in a schema, under row-level security. Run it inside a transaction. */
export async function makeTables(
  client: ClientBase,
  schema: string,
  projection: Projection,
  folder: string,
  appRole: string,
): Promise<void> {
  // Unqualified names, also those that the tables refer to each other by, mean this schema and no other.
  await client.query(`set local search_path = ${escapeIdentifier(schema)}`);
  await client.query(tablesOf(projection, folder));
  await secureTables(client, schema, projection.tables, appRole);
}
