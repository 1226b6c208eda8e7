import type { ClientBase } from 'pg';
import { ownersOf } from '../../application/event-sourcing/codec.js';
import type { Logger, Metrics } from '../../application/ports/telemetry.js';
import type { StoredEvent } from '../../application/ports/event-store.js';
import type { PersonalDataKeys } from '../../application/ports/personal-data-keys.js';
import type { Projection } from '../../../projections/kit/projection.js';
import { forRows, type Sql } from '../../../projections/kit/sql.js';
import { isOutage } from '../postgres/faults.js';
import { runTogether, StatementFailed } from '../postgres/pipeline.js';
import { faultName, parkStatement, type ParkedStreams } from './parked.js';
import { ProjectableEvent } from './projectable-event.js';

/** How long one batch may take, in milliseconds; longer means that the connection is lost. */
export const answerWithinMs = 30_000;

/** Where rows go, and what else is written with them. */
export interface WriteTarget {
  readonly client: ClientBase;
  readonly projections: readonly Projection[];
  readonly parked: ParkedStreams;
  /** The name that a projection's parked streams are kept under. */
  parkedAs(projection: Projection): string;
  /** First statements of the transaction that brings the rows up to `event`. */
  first(event: StoredEvent): readonly Sql[];
  /** The rows are up to `event`. */
  written(event: StoredEvent): void;
}

export interface WritingNeeds {
  readonly subjects: PersonalDataKeys;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Understands events ahead of writing them, so that it can be done while earlier ones are being written. */
export async function readAhead(
  { subjects }: Pick<WritingNeeds, 'subjects'>,
  projections: readonly Projection[],
  events: readonly StoredEvent[],
): Promise<readonly ProjectableEvent[]> {
  const keys = await subjects.openingKeys(ownersOf(events));
  const readings = events.map((event) => new ProjectableEvent(event, keys));
  for (const reading of readings) for (const projection of projections) reading.statementsFor(projection);
  return readings;
}

/**
 * Writes events into the rows of read models, all in one transaction. What a read model cannot follow parks the event's
 * stream for that read model, in the same transaction; other streams and other read models go on. Throws on outages,
 * and when `first` is refused; then nothing was written.
 */
export const writeRows = (
  rows: WriteTarget,
  needs: WritingNeeds,
  readings: readonly ProjectableEvent[],
): Promise<void> => write(rows, needs, readings);

interface StatementGroup {
  readonly statement: Sql;
  readonly projection: Projection;
  /** What the statement does the work of. */
  readonly rows: Sql[];
}

interface Park {
  readonly projection: Projection;
  readonly event: StoredEvent;
  readonly fault: string;
}

async function write(
  rows: WriteTarget,
  needs: WritingNeeds,
  readings: readonly ProjectableEvent[],
  refused: ReadonlyMap<Projection, string> = new Map(),
): Promise<void> {
  const last = readings.at(-1)?.event;
  if (!last) return;
  const { lines, parks } = plan(rows, readings, refused);
  const before = [
    ...rows.first(last),
    ...parks.map(({ projection, event, fault }) => parkStatement(rows.parkedAs(projection), event, fault)),
  ];
  try {
    await runTogether(rows.client, [...before, ...lines.map(inOne)], answerWithinMs);
  } catch (fault) {
    const ofLines = fault instanceof StatementFailed && fault.index >= before.length && lines.length > 0;
    if (!ofLines || isOutage(fault)) throw fault;
    if (readings.length > 1) {
      // One of them is to blame. Alone, each shows whether it is the one.
      for (const reading of readings) await write(rows, needs, [reading]);
      return;
    }
    // Without a line it was the commit that failed: any of them may be the reason.
    const culprits = lines[fault.index - before.length] ?? lines;
    const more = [culprits].flat().map(({ projection }) => [projection, faultName(fault)] as const);
    await write(rows, needs, readings, new Map([...refused, ...more]));
    return;
  }
  for (const park of parks) noteParked(rows, needs, park);
  rows.written(last);
}

function plan(
  rows: WriteTarget,
  readings: readonly ProjectableEvent[],
  refused: ReadonlyMap<Projection, string>,
): { readonly lines: readonly StatementGroup[]; readonly parks: readonly Park[] } {
  const lines: StatementGroup[] = [];
  const parks: Park[] = [];
  for (const projection of rows.projections) {
    const parkedHere = new Set<string>();
    for (const reading of readings) {
      const { event } = reading;
      if (parkedHere.has(event.stream) || rows.parked.has(rows.parkedAs(projection), event.stream)) continue;
      const meant = refused.get(projection) ?? reading.statementsFor(projection);
      if (typeof meant !== 'string') {
        for (const statement of meant) addLine(lines, { statement, projection, rows: [statement] });
      } else {
        parkedHere.add(event.stream);
        parks.push({ projection, event, fault: meant });
      }
    }
  }
  return { lines, parks };
}

/** One statement for all rows of a line. */
function inOne({ statement, rows }: StatementGroup): Sql {
  const { many } = statement;
  if (!many || rows.length === 1) return statement;
  return forRows(
    many.statement,
    rows.flatMap((row) => (row.many ? [row.many.row] : [])),
  );
}

/** A statement that can do the work of its neighbour too takes it over. */
function addLine(lines: StatementGroup[], line: StatementGroup): void {
  const neighbour = lines.at(-1);
  const joins =
    neighbour?.projection === line.projection &&
    line.statement.many !== undefined &&
    neighbour.statement.many?.statement === line.statement.many.statement;
  if (joins) neighbour.rows.push(line.statement);
  else lines.push(line);
}

function noteParked(rows: WriteTarget, { log, metrics }: WritingNeeds, { projection, event, fault }: Park): void {
  rows.parked.add(rows.parkedAs(projection), event.stream, event.revision);
  metrics.count('palimpsest_projection_parked_total', { projection: projection.name });
  const { stream, revision, id } = event;
  log.error({ projection: projection.name, stream, revision, eventId: id, fault }, 'a stream was parked');
}
