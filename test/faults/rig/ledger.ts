import type { Caller } from './caller.js';

export interface Listed {
  readonly id: string;
  readonly index: number;
  readonly content: string;
}

/** Every entry of a pad, page by page. */
export async function listed(caller: Caller, scratchpadId: string): Promise<readonly Listed[]> {
  const entries: Listed[] = [];
  let cursor: string | null = null;
  do {
    const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const path = `/v1/scratchpads/${scratchpadId}/entries?limit=100${more}`;
    const answer = await caller.surely({ method: 'GET', path });
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${answer.text}`);
    entries.push(...(answer.data as readonly Listed[])); // as scratchpad.entry.list declares
    cursor = (answer.body['page'] as { nextCursor: string | null }).nextCursor;
  } while (cursor !== null);
  return entries;
}

interface Exported {
  readonly type: string;
  readonly position: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The audit events of a stream, oldest first. */
export async function audited(caller: Caller, stream: string): Promise<readonly Exported[]> {
  const { text } = await caller.surely({ method: 'GET', path: `/v1/audit/export?stream=${stream}` });
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Exported); // one event a line
}

/** The ids of the entries that the audit trail of a pad has been reported, in its order. */
export const auditedEntries = async (caller: Caller, scratchpadId: string): Promise<readonly string[]> =>
  (await audited(caller, `scratchpad_ledger-${scratchpadId}`))
    .filter(({ type }) => type === 'scratchpad.entry_appended')
    .map(({ data }) => String(data['entryId']));
