import { DatabaseError, type ClientBase, type Connection, type FieldDef, type Submittable } from 'pg';
import type { Sql } from '../../../projections/kit/sql.js';
import { readerOf, writeValue, type ReadValue } from './values.js';

/** What one statement of a batch did. `count` is the number of rows it touched or answered. */
export interface Outcome {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly count: number;
}

/**
 * One statement of a batch was refused. Invariant: it has only what is safe to log. Why: Postgres puts the failing row into
 * its messages.
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
    const inTime =
      <Value>(end: (value: Value) => void) =>
      (value: Value) => {
        clearTimeout(timer);
        end(value);
      };
    client.query(new Batch(bound, sessionOf(client), inTime(resolve), inTime(reject)));
  });
}

interface Column {
  readonly name: string;
  readonly read: ReadValue;
}

/** A statement as one connection has it: by what name, and which columns it answers. */
interface Prepared {
  readonly name: string;
  columns: readonly Column[];
}

/** What connections have prepared, by text. Names count up and are never given twice, whatever became of the first. */
interface Session {
  readonly prepared: Map<string, Prepared>;
  named: number;
}

const sessions = new WeakMap<ClientBase, Session>();

function sessionOf(client: ClientBase): Session {
  const known = sessions.get(client);
  if (known) return known;
  const made: Session = { prepared: new Map(), named: 0 };
  sessions.set(client, made);
  return made;
}

/** To be called when tables were replaced by others of the same name: statements are then prepared anew. */
export async function forgetPrepared(client: ClientBase): Promise<void> {
  sessionOf(client).prepared.clear();
  await client.query('deallocate all');
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
  readonly text: string;
  readonly values: readonly Written[];
}

function bind({ text, values }: Sql, index: number): Bound {
  try {
    return { text, values: values.map(writeValue) };
  } catch {
    throw new StatementFailed('unwritable value', index);
  }
}

/** A query of the driver's own kind (its documented `Submittable`): it writes messages and is called back with the answers. */
class Batch implements Submittable {
  private readonly outcomes: Outcome[] = [];
  private readonly preparedHere: string[] = [];
  private rows: Record<string, unknown>[] = [];

  constructor(
    private readonly statements: readonly Bound[],
    private readonly session: Session,
    private readonly resolve: (outcomes: readonly Outcome[]) => void,
    private readonly reject: (fault: Error) => void,
  ) {}

  submit(connection: Connection): void {
    const wire = connection as unknown as Wire; // see Wire
    wire.stream.cork();
    for (const { text, values } of this.statements) {
      wire.bind({ statement: this.nameOf(text, wire), values });
      wire.execute({});
    }
    wire.sync();
    wire.stream.uncork();
  }

  private nameOf(text: string, wire: Wire): string {
    const known = this.session.prepared.get(text);
    if (known) return known.name;
    const name = `s${(this.session.named += 1)}`;
    this.session.prepared.set(text, { name, columns: [] });
    this.preparedHere.push(text);
    wire.parse({ name, text });
    wire.describe({ type: 'S', name });
    return name;
  }

  /** The statement that is being answered. */
  private get current(): Prepared | undefined {
    return this.session.prepared.get(this.statements[this.outcomes.length]?.text ?? '');
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    const { current } = this;
    if (current) current.columns = fields.map((field) => ({ name: field.name, read: readerOf(field.dataTypeID) }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (const [place, { name, read }] of (this.current?.columns ?? []).entries()) {
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
    // Of what came after the failing statement nothing was prepared.
    for (const text of this.preparedHere) this.session.prepared.delete(text);
    this.reject(
      fault instanceof DatabaseError
        ? new StatementFailed(fault.code ?? 'unknown', this.outcomes.length)
        : new ConnectionLost('code' in fault && typeof fault.code === 'string' ? fault.code : undefined),
    );
  }
}
