import { destination, pino } from 'pino';
import type { Logger } from '../application/ports/telemetry.js';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LogOptions {
  readonly level: LogLevel;
  /** File descriptor: 1 is stdout, 2 is stderr. */
  readonly fd?: 1 | 2;
}

/**
 * Writes a line of JSON for each call. Fields are written as given: callers name what may be seen, and never pass an error.
 * Flush before the process ends.
 */
export function makeLogger({ level, fd = 1 }: LogOptions): Logger & { flush(): Promise<void> } {
  // Written in the background and many lines at a time, so that neither a slow reader of the log nor a write for each line
  // slows requests. Lines of requests may be a moment late; warnings and faults are written at once.
  const stream = destination({ dest: fd, sync: false, minLength: 8_192, periodicFlush: 100 });
  const logger = pino({ level, base: { pid: process.pid } }, stream);
  return {
    info: (fields, message) => logger.info(withoutErrors(fields), message),
    warn(fields, message) {
      logger.warn(withoutErrors(fields), message);
      stream.flush();
    },
    error(fields, message) {
      logger.error(withoutErrors(fields), message);
      stream.flush();
    },
    flush: () => new Promise((resolve) => stream.flush(() => resolve())),
  };
}

/** Replaces errors by their class. Why: drivers put rows, commands and bodies into their errors. */
function withoutErrors(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const errors = Object.entries(fields).filter(([, value]) => value instanceof Error);
  if (errors.length === 0) return fields;
  return { ...fields, ...Object.fromEntries(errors.map(([name, error]) => [name, error?.constructor.name])) };
}
