import type { z } from 'zod';
import type { Sql } from './sql.js';

/** Rows of the read models, as one tenant sees them (row-level security stands behind every query). */
export interface ReadDb {
  rows(query: Sql): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** The first row, checked; undefined when there is none. */
export const first = <Row>(schema: z.ZodType<Row>, [row]: readonly unknown[]): Row | undefined =>
  row === undefined ? undefined : schema.parse(row);

/** Every row, checked. */
export const all = <Row>(schema: z.ZodType<Row>, rows: readonly unknown[]): readonly Row[] =>
  rows.map((row) => schema.parse(row));
