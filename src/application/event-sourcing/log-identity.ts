import { randomUUID } from 'node:crypto';
import { logEvents } from '../../domain/log/events.js';
import { log } from '../../domain/log/log.js';
import { WrongRevision } from '../faults/errors.js';
import type { Clock } from '../ports/clock.js';
import type { BoundLog, LogProbe, LogBinding } from '../ports/log-binding.js';
import { encode } from './codec.js';

/** The stream whose first event names the log. */
const stream = `${log.category}-identity`;

/** What each backend answered, and what this process has seen; a backend that is away is not among them. */
export type Bound = ReadonlyMap<LogBinding['backend'] | 'this process', BoundLog>;

export async function readLogId(events: LogProbe): Promise<string | undefined> {
  const [created] = await events.readStream(stream, 0, 1);
  return created && logEvents['log.created'].parse(created.data).logId;
}

/** Names a log that has no name yet. Of processes that start together one does it; all answer the same id. */
export async function createLogId(events: LogProbe, clock: Clock, ownerId: string): Promise<string> {
  const logId = randomUUID();
  const metadata = {
    $correlationId: logId,
    ownerId,
    actor: { type: 'system' as const, id: 'system' },
    at: clock.now().toISOString(),
  };
  const created = encode(logId, { type: 'log.created', data: { logId } }, metadata, undefined);
  try {
    await events.append(stream, 'none', [created]);
    return logId;
  } catch (fault) {
    const first = fault instanceof WrongRevision ? await readLogId(events) : undefined;
    if (first === undefined) throw fault;
    return first;
  }
}

const waysOut =
  'Nothing is written and nothing is removed until this is put right: correct EVENTSTORE_URL, or restore the event log; ' +
  'or give up what the former log says with "palimpsest adopt-log".';

/**
 * Says what is wrong with a log, or undefined: it is the one that the backends are bound to, and reaches as far as they
 * have seen it. A log without a name fits backends that were never bound, which is how a home of an older version looks.
 */
export function mismatchOf(logId: string | undefined, end: bigint, bound: Bound): string | undefined {
  for (const [holder, { logId: known, position }] of bound) {
    if (known !== undefined && known !== logId) {
      const found = logId === undefined ? 'a log without a name' : `log ${logId}`;
      return `EVENTSTORE_URL leads to ${found}, which ends at position ${end}, but ${holder} holds data of log ${known}, seen up to position ${position}. ${waysOut}`;
    }
    if (position > end) {
      return `The event log ends at position ${end}, but ${holder} has seen it up to position ${position}: it lost its end, or it is an older copy or another log. ${waysOut}`;
    }
  }
  return undefined;
}
