import { writeSync } from 'node:fs';

/** Lets a process die at a chosen moment, to show what a crash leaves behind (docs/decisions/0040-crash-points.md). */
export interface CrashPoints {
  /**
   * The same port, whose effects are crash points: `before:events.append(thread.created)`, `after:working.keys.create`.
   * What is not named among `reads` counts as an effect. `detail` distinguishes calls of one method.
   */
  readonly around: <Port extends object>(
    name: string,
    port: Port,
    reads: readonly (keyof Port)[],
    detail?: (args: readonly unknown[]) => string | undefined,
  ) => Port;
}

const none: CrashPoints = { around: (_name, port) => port };

/**
 * `at` is PALIMPSEST_CRASH_AT: a crash point, with `#n` for its n-th hit; or `trace`, which writes each one to standard
 * error and ends no process. Undefined: every port is handed back untouched.
 */
export function makeCrashPoints(at: string | undefined): CrashPoints {
  if (at === undefined) return none;
  const [name, nth = '1'] = at.split('#');
  let left = Number(nth);
  const hit = (point: string): void => {
    if (at === 'trace') writeSync(2, `crash point ${point}\n`);
    if (point !== name || (left -= 1) > 0) return;
    writeSync(2, `crashed at ${point}\n`);
    process.kill(process.pid, 'SIGKILL');
  };
  return {
    around: (portName, port, reads, detail) =>
      new Proxy(port, {
        get(target, key) {
          const member: unknown = Reflect.get(target, key);
          if (typeof member !== 'function' || typeof key === 'symbol') return member;
          // Bound: what a port calls of itself is no crash point.
          if (reads.some((read) => read === key)) return member.bind(target) as unknown;
          return (...args: readonly unknown[]): unknown => {
            const more = detail?.(args);
            const effect = `${portName}.${key}${more === undefined ? '' : `(${more})`}`;
            hit(`before:${effect}`);
            const outcome: unknown = Reflect.apply(member, target, args);
            return outcome instanceof Promise ? passing(outcome, () => hit(`after:${effect}`)) : outcome;
          };
        },
      }),
  };
}

async function passing(outcome: Promise<unknown>, then: () => void): Promise<unknown> {
  const value = await outcome;
  then();
  return value;
}
