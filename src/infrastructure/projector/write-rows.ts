import type { ClientBase } from 'pg';
import { ownersOf } from '../../application/event-sourcing/codec.js';
import type { Logger, Metrics } from '../../application/ports/telemetry.js';
import type { StoredEvent } from '../../application/ports/event-store.js';
import type { PersonalDataKeys } from '../../application/ports/personal-data-keys.js';
import type { Projection } from '../../../projections/kit/projection.js';
import { forRows, type Sql } from '../../../projections/kit/sql.js';
import { faultName, isOutage } from '../postgres/faults.js';
import { runTogether, StatementFailed } from '../postgres/pipeline.js';
import { parkStatement, type ParkedStreams } from './parked.js';
import { ProjectableEvent } from './projectable-event.js';

/** How long one batch may take, in milliseconds; after that the connection counts as lost. */
export const answerWithinMs = 30_000;

/** Where rows are written, and what is written with them. */
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
  readonly personalDataKeys: PersonalDataKeys;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Handles events ahead of writing them. Why: it can be done while earlier ones are being written. */
export async function readAhead(
  { personalDataKeys }: Pick<WritingNeeds, 'personalDataKeys'>,
  projections: readonly Projection[],
  events: readonly StoredEvent[],
): Promise<readonly ProjectableEvent[]> {
  const keys = await personalDataKeys.openingKeys(ownersOf(events));
  const projectable = events.map((event) => new ProjectableEvent(event, keys));
  for (const event of projectable) for (const projection of projections) event.statementsFor(projection);
  return projectable;
}

/**
 * Writes events into the rows of read models, all in one transaction. An event that a read model cannot follow parks its
 * stream for that read model, in the same transaction; other streams and other read models go on.
 * Fails when: the database is away, or `first` is refused → nothing was written.
 */
export const writeRows = (
  target: WriteTarget,
  needs: WritingNeeds,
  events: readonly ProjectableEvent[],
): Promise<void> => write(target, needs, events, new Map());

interface StatementGroup {
  readonly statement: Sql;
  readonly projection: Projection;
  /** The statements that this one does the work of. */
  readonly rows: Sql[];
}

interface Park {
  readonly projection: Projection;
  readonly event: StoredEvent;
  readonly fault: string;
}

async function write(
  target: WriteTarget,
  needs: WritingNeeds,
  events: readonly ProjectableEvent[],
  refused: ReadonlyMap<Projection, string>,
): Promise<void> {
  const last = events.at(-1)?.event;
  if (!last) return;
  const { groups, parks } = plan(target, events, refused);
  const before = [
    ...target.first(last),
    ...parks.map(({ projection, event, fault }) => parkStatement(target.parkedAs(projection), event, fault)),
  ];
  try {
    await runTogether(target.client, [...before, ...groups.map(statementOf)], answerWithinMs);
  } catch (fault) {
    const isOfGroups = fault instanceof StatementFailed && fault.index >= before.length && groups.length > 0;
    if (!isOfGroups || isOutage(fault)) throw fault;
    // Written alone, each event shows whether it is the one to blame.
    if (events.length > 1) {
      for (const event of events) await write(target, needs, [event], new Map());
      return;
    }
    // Without a group it was the commit that failed: any of them may be the reason.
    const culprits = groups[fault.index - before.length] ?? groups;
    const more = [culprits].flat().map(({ projection }) => [projection, faultName(fault)] as const);
    return write(target, needs, events, new Map([...refused, ...more]));
  }
  for (const park of parks) noteParked(target, needs, park);
  target.written(last);
}

function plan(
  target: WriteTarget,
  events: readonly ProjectableEvent[],
  refused: ReadonlyMap<Projection, string>,
): { readonly groups: readonly StatementGroup[]; readonly parks: readonly Park[] } {
  const groups: StatementGroup[] = [];
  const parks: Park[] = [];
  for (const projection of target.projections) {
    const parkedHere = new Set<string>();
    for (const projectable of events) {
      const { event } = projectable;
      if (parkedHere.has(event.stream) || target.parked.has(target.parkedAs(projection), event.stream)) continue;
      const statements = refused.get(projection) ?? projectable.statementsFor(projection);
      if (typeof statements !== 'string') {
        for (const statement of statements) addGroup(groups, { statement, projection, rows: [statement] });
      } else {
        parkedHere.add(event.stream);
        parks.push({ projection, event, fault: statements });
      }
    }
  }
  return { groups, parks };
}

/** The one statement that does the work of a group. */
function statementOf({ statement, rows }: StatementGroup): Sql {
  const { many } = statement;
  if (!many || rows.length === 1) return statement;
  return forRows(
    many.statement,
    rows.flatMap((row) => (row.many ? [row.many.row] : [])),
  );
}

/** Adds a group, or merges it into the one before it when a single statement can do the work of both. */
function addGroup(groups: StatementGroup[], group: StatementGroup): void {
  const neighbour = groups.at(-1);
  const joins =
    neighbour?.projection === group.projection &&
    group.statement.many !== undefined &&
    neighbour.statement.many?.statement === group.statement.many.statement;
  if (joins) neighbour.rows.push(group.statement);
  else groups.push(group);
}

function noteParked(target: WriteTarget, { log, metrics }: WritingNeeds, { projection, event, fault }: Park): void {
  target.parked.add(target.parkedAs(projection), event.stream, event.revision);
  metrics.count('palimpsest_projection_parked_total', { projection: projection.name });
  const { stream, revision, id } = event;
  log.error({ projection: projection.name, stream, revision, eventId: id, fault }, 'a stream was parked');
}
