import type { Log, Metrics } from '../../src/application/ports.js';

/** A log that nobody reads. */
export const quiet: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Metrics that nobody reads. */
export const uncounted: Metrics = { count: () => undefined, observe: () => undefined };
