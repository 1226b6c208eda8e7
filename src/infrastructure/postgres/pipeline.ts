import { createHash } from 'node:crypto';
import { DatabaseError, type ClientBase, type Connection, type FieldDef, type Submittable } from 'pg';
import type { Sql } from '../../../projections/sql.js';
import { readerOf, writeValue, type ReadValue } from './values.js';

/** What one statement of a batch did. `count` is the number of rows it touched or answered. */
export interface Outcome {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly count: number;
}

/**
 * One statement of a batch was refused. It carries what is safe to log and nothing else: Postgres puts the failing row
 * into its messages (M11).
 */
export class StatementFailed extends Error {
  constructor(
    readonly code: string,
    /** Which statement of the batch, from 0; as many as there were statements when the commit itself failed. */
    readonly index: number,
  ) {
    super(`Postgres refused a statement (${code}).`);
  }
}

/** The connection ended, or did not answer in time, before the batch was answered. */
export class ConnectionLost extends Error {
  constructor(readonly code?: string) {
    super('The connection to Postgres was lost.');
  }
}

/**
 * Runs statements as one transaction in one round trip: all are sent at once, prepared the first time, with a single
 * synchronisation point at the end, which is where Postgres commits. Any failure undoes all of them; the client is then
 * to be thrown away. Throws StatementFailed or ConnectionLost.
 */
export function runTogether(
  client: ClientBase,
  statements: readonly Sql[],
  timeoutMs: number,
): Promise<readonly Outcome[]> {
  return new Promise((resolve, reject) => {
    const bound = statements.map(bind);
    const timer = setTimeout(() => reject(new ConnectionLost('timeout')), timeoutMs);
    const settle =
      <Value>(end: (value: Value) => void) =>
      (value: Value) => {
        clearTimeout(timer);
        end(value);
      };
    client.query(new Batch(bound, preparedOn(client), settle(resolve), settle(reject)));
  });
}

interface Column {
  readonly name: string;
  readonly read: ReadValue;
}

/** What a connection has prepared: statement name → the columns that it answers. */
type Prepared = Map<string, readonly Column[]>;

const preparedBy = new WeakMap<ClientBase, Prepared>();

function preparedOn(client: ClientBase): Prepared {
  const known = preparedBy.get(client);
  if (known) return known;
  const made: Prepared = new Map();
  preparedBy.set(client, made);
  return made;
}

const names = new Map<string, string>();

function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = createHash('sha256').update(text).digest('hex').slice(0, 32);
  names.set(text, name);
  return name;
}

/** The parts of the driver's connection that a batch writes to; its published types ask for arguments it does not take. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  parse(statement: { readonly name: string; readonly text: string }): void;
  describe(what: { readonly type: 'S'; readonly name: string }): void;
  bind(portal: { readonly statement: string; readonly values: readonly Written[] }): void;
  execute(portal: Record<string, never>): void;
  sync(): void;
}

type Written = ReturnType<typeof writeValue>;

interface Bound {
  readonly name: string;
  readonly text: string;
  readonly values: readonly Written[];
}

function bind({ text, values }: Sql, index: number): Bound {
  try {
    return { name: nameOf(text), text, values: values.map(writeValue) };
  } catch {
    throw new StatementFailed('unwritable value', index);
  }
}

const noColumns: readonly Column[] = [];

/** A query of the driver's own kind (its documented `Submittable`): it writes messages and is called back with the answers. */
class Batch implements Submittable {
  private readonly outcomes: Outcome[] = [];
  private rows: Record<string, unknown>[] = [];

  constructor(
    private readonly statements: readonly Bound[],
    private readonly prepared: Prepared,
    private readonly resolve: (outcomes: readonly Outcome[]) => void,
    private readonly reject: (fault: Error) => void,
  ) {}

  submit(connection: Connection): void {
    const wire = connection as unknown as Wire; // see Wire
    wire.stream.cork();
    for (const { name, text, values } of this.statements) {
      if (!this.prepared.has(name)) {
        this.prepared.set(name, noColumns);
        wire.parse({ name, text });
        wire.describe({ type: 'S', name });
      }
      wire.bind({ statement: name, values });
      wire.execute({});
    }
    wire.sync();
    wire.stream.uncork();
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    const statement = this.statements[this.outcomes.length];
    if (!statement) return;
    this.prepared.set(
      statement.name,
      fields.map((field) => ({ name: field.name, read: readerOf(field.dataTypeID) })),
    );
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const columns = this.prepared.get(this.statements[this.outcomes.length]?.name ?? '') ?? noColumns;
    const row: Record<string, unknown> = {};
    for (const [place, { name, read }] of columns.entries()) {
      const text = fields[place];
      row[name] = text === null || text === undefined ? null : read(text);
    }
    this.rows.push(row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.outcomes.push({ rows: this.rows, count: Number(/\d+$/.exec(text)?.[0] ?? 0) });
    this.rows = [];
  }

  handleEmptyQuery(): void {
    this.outcomes.push({ rows: [], count: 0 });
  }

  handleReadyForQuery(): void {
    this.resolve(this.outcomes);
  }

  handleError(fault: Error): void {
    this.reject(
      fault instanceof DatabaseError
        ? new StatementFailed(fault.code ?? 'unknown', this.outcomes.length)
        : new ConnectionLost('code' in fault && typeof fault.code === 'string' ? fault.code : undefined),
    );
  }
}
