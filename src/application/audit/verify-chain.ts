import { findAuditHash, findAuditHead, listAudit } from '../../../projections/audit.js';
import type { ReadDb } from '../ports/read-models.js';
import { chainFault, chainStart, chainedEvent, type ChainEnd, type ChainFault } from './hash-chain.js';

/** Events checked in one call; a longer chain continues with `after`. */
const mostAtOnce = 20_000;
const pageSize = 500;

export interface ChainReport {
  readonly ok: boolean;
  readonly events: number;
  readonly complete: boolean;
  /** Position and hash of the last event that fits; null when none does. */
  readonly position: string | null;
  readonly hash: string | null;
  /** The first event that does not fit; `end`: the last events are missing. */
  readonly broken: {
    readonly fault: ChainFault | 'end';
    readonly id: string | null;
    readonly position: string | null;
  } | null;
}

/** Verifies an owner's hash chain as the read model has it, after a position; undefined when no event is there. */
export async function verifyChain(
  reads: ReadDb,
  ownerId: string,
  after: string | undefined,
): Promise<ChainReport | undefined> {
  const start = after === undefined ? chainStart : await endAt(reads, ownerId, after);
  if (!start) return undefined;
  // First: what is appended meanwhile only comes after it.
  const head = (await findAuditHead(reads, ownerId))?.hash ?? '';
  return checkFrom(reads, ownerId, start, head);
}

async function endAt(reads: ReadDb, ownerId: string, position: string): Promise<ChainEnd | undefined> {
  const hash = await findAuditHash(reads, ownerId, position);
  return hash === undefined ? undefined : { hash, position };
}

async function checkFrom(reads: ReadDb, ownerId: string, start: ChainEnd, head: string): Promise<ChainReport> {
  let end = start;
  let events = 0;
  let isHeadSeen = end.hash === head;
  const report = (complete: boolean, broken: ChainReport['broken']): ChainReport => ({
    ok: broken === null,
    events,
    complete,
    broken,
    position: end.hash === '' ? null : end.position,
    hash: end.hash === '' ? null : end.hash,
  });
  for (;;) {
    const rows = await listAudit(reads, { ownerId }, { order: 'asc', limit: pageSize, after: end.position });
    for (const row of rows.slice(0, pageSize)) {
      const fault = chainFault(end, chainedEvent.parse(row));
      if (fault) return report(true, { fault, id: row.id, position: row.position });
      end = row;
      events += 1;
      isHeadSeen ||= end.hash === head;
    }
    if (rows.length <= pageSize) return report(true, isHeadSeen ? null : { fault: 'end', id: null, position: null });
    if (events >= mostAtOnce) return report(false, null);
  }
}
