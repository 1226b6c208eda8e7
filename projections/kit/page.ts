import { sql, type Sql } from './sql.js';

/** A part of a list: newest first or oldest first, after a position (exclusive). */
export interface PageRequest {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** Position of the last item already seen. */
  readonly after: string | undefined;
}

/** Ends a list query: `where … ${pageClause(page)}`. Why one row more than asked: it shows that another page follows. */
export const pageClause = ({ order, limit, after }: PageRequest): Sql =>
  order === 'asc'
    ? sql`and position > ${after ?? '-1'}::bigint order by position asc limit ${limit + 1}`
    : sql`and position < ${after ?? '9223372036854775807'}::bigint order by position desc limit ${limit + 1}`;
