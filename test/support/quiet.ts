import type { Logger, Metrics } from '../../src/application/ports/telemetry.js';

/** A log that nobody reads. */
export const quiet: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Metrics that nobody reads. */
export const uncounted: Metrics = { count: () => undefined, observe: () => undefined };
