import type { LogGuard } from '../../event-sourcing/log-guard.js';
import type { Step } from '../step.js';

/**
 * Holds commands back until the event log is known to be the right one. Why here too: a command may write to Redis before
 * it appends. Fails when: another log → LogMismatch.
 */
export const verifyLog = (guard: Pick<LogGuard, 'hold'>): Step => ({
  name: 'verify log',
  run: ({ operation }) => (operation.kind === 'command' ? guard.hold()?.then(() => undefined) : undefined),
});
