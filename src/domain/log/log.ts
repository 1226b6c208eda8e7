import type { Aggregate, EventOf } from '../kernel/aggregate.js';
import type { logEvents } from './events.js';

export type LogEvent = EventOf<typeof logEvents>;
export type Log = { readonly status: 'unnamed' } | { readonly status: 'named'; readonly id: string };

/** The event log itself: one stream, whose first event names it. */
export const log: Aggregate<Log, LogEvent> = {
  category: 'log',
  initial: { status: 'unnamed' },
  evolve: { 'log.created': (_, { logId }) => ({ status: 'named', id: logId }) },
};
