import type { Operation } from './operation.js';

/** An operation as a language model meets it: by a name it can type, with what a host asks its user before a call. */
export interface Tool {
  /** The operation's name with `_` for each dot. */
  readonly name: string;
  readonly operation: Operation;
  readonly hints: Hints;
}

export interface Hints {
  /** It changes nothing. */
  readonly readOnly: boolean;
  /** It replaces or takes away what was there. */
  readonly destructive: boolean;
  /** Calling it again with the same arguments changes nothing more. */
  readonly idempotent: boolean;
}

const form = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The tools of a registry: every operation but those that answer without an end or a bound of their own (`stream` and
 * `events`). Throws when a name is none or is taken, so that no process starts with one tool hidden behind another.
 */
export function toolsOf(operations: readonly Operation[]): readonly Tool[] {
  const tools = new Map<string, Tool>();
  for (const operation of operations) {
    if (operation.kind === 'stream' || operation.kind === 'events') continue;
    const name = operation.name.replaceAll('.', '_');
    const other = tools.get(name);
    if (!form.test(name)) throw new Error(`${operation.name} has no name that a tool can have.`);
    if (other) throw new Error(`${operation.name} and ${other.operation.name} have the same name as tools.`);
    tools.set(name, { name, operation, hints: hintsOf(operation) });
  }
  return [...tools.values()];
}

/** A POST adds, unless it says that it replaces; the other methods set or take away, which twice is the same as once. */
function hintsOf({ kind, http, replaces, requiresIdempotencyKey }: Operation): Hints {
  if (kind !== 'command') return { readOnly: true, destructive: false, idempotent: true };
  const destructive = !http.startsWith('POST ') || replaces === true;
  return { readOnly: false, destructive, idempotent: destructive || requiresIdempotencyKey === true };
}
