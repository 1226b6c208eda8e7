import type { PageRequest } from '../../../projections/kit/page.js';
import { isRefusal, type Refusal } from '../../domain/kernel/refusal.js';
import type { Cursors } from './context.js';
import type { Page } from './operation.js';

/** Answers one page of a list: opens the caller's cursor, finds the rows after it, seals the next cursor. */
export async function listPage<Row extends { readonly position: string }>(
  cursors: Cursors,
  list: string,
  filter: Readonly<Record<string, unknown>>,
  {
    limit,
    order,
    cursor,
  }: { readonly limit: number; readonly order: 'asc' | 'desc'; readonly cursor?: string | undefined },
  find: (page: PageRequest) => Promise<readonly Row[]>,
): Promise<Page<Row> | Refusal<'validation_failed'>> {
  const bound = { ...filter, order };
  const after = cursors.open(list, bound, cursor);
  if (isRefusal(after)) return after;
  const rows = await find({ limit, order, after });
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? cursors.seal(list, bound, last.position) : null };
}
