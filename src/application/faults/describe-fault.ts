import { BackendUnavailable, OutcomeUnknown } from './errors.js';

/**
 * The parts of a fault that may be logged: its class, its code, where it was thrown; not its message.
 * Why: messages of database and Redis drivers quote rows and command arguments. A backend that is away has no frames:
 * they are not in this code, and every request would log them again.
 */
export function describeFault(fault: unknown): Readonly<Record<string, unknown>> {
  if (fault instanceof BackendUnavailable) return { fault: fault.constructor.name, backend: fault.backend };
  if (fault instanceof OutcomeUnknown) return { fault: fault.constructor.name, backend: 'eventstore' };
  if (!(fault instanceof Error)) return { fault: typeof fault };
  const code: unknown = 'code' in fault ? fault.code : undefined;
  const frames = (fault.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    fault: fault.constructor.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    at: frames.slice(0, 4).map((line) => line.trim()),
    ...(fault.cause instanceof Error && { cause: fault.cause.constructor.name }),
  };
}
