import { Undecodable, decode, type DecodedEvent } from '../../application/event-sourcing/codec.js';
import { digestOf } from '../../application/kernel/canonical-json.js';
import type { StoredEvent } from '../../application/ports/event-store.js';
import type { PersonalDataKey } from '../../application/ports/personal-data-keys.js';
import { categories, categoryOf } from '../../domain/categories.js';
import { eventSchemas } from '../../domain/events.js';
import type { Projection } from '../../../projections/kit/projection.js';
import type { Sql } from '../../../projections/kit/sql.js';
import { faultName } from '../postgres/faults.js';

/** Fails when: an event on a stream of this product's was not written by it, so that it names no owner. */
class Foreign extends Error {}

/** An event on its way into read models: decoded, digested and handled once, and only when a read model asks. */
export class ProjectableEvent {
  private readonly statements = new Map<Projection, readonly Sql[] | string>();
  private decoded: DecodedEvent | undefined;
  private digest: string | undefined;

  constructor(
    readonly event: StoredEvent,
    private readonly keys: ReadonlyMap<string, PersonalDataKey>,
  ) {}

  /** What the event changes in a read model, or the name of the fault that keeps the read model from following it. */
  statementsFor(projection: Projection): readonly Sql[] | string {
    const known = this.statements.get(projection);
    if (known !== undefined) return known;
    const statements = this.statementsOrFault(projection);
    this.statements.set(projection, statements);
    return statements;
  }

  private statementsOrFault(projection: Projection): readonly Sql[] | string {
    try {
      return this.follow(projection);
    } catch (fault) {
      return faultName(fault);
    }
  }

  /**
   * The event's statements; none when the read model need not follow it, as with streams of other applications.
   * Fails when: the event is foreign → `Foreign`; its type or version is not known here → `Undecodable`; the read model's
   * own handler throws.
   */
  private follow(projection: Projection): readonly Sql[] {
    const { event } = this;
    const handler = handlerOf(projection, event.type);
    const follows = projection.onEvery !== undefined || handler !== undefined;
    if (isForeign(event) && !isOfFamilies(projection, event)) return [];
    if (!follows && (event.type in eventSchemas || !isOfFamilies(projection, event))) return [];
    if (typeof event.metadata['ownerId'] !== 'string') throw new Foreign();
    return [...this.fromEvery(projection), ...this.fromHandler(projection, handler)];
  }

  private fromEvery({ onEvery }: Projection): readonly Sql[] {
    if (!onEvery) return [];
    const { event } = this;
    this.digest ??= digestOf([event.data, event.metadata]);
    return [onEvery({ ...event, digest: this.digest })];
  }

  private fromHandler(projection: Projection, handler: Handler | undefined): readonly Sql[] {
    if (!handler) {
      if (!(this.event.type in eventSchemas) && isOfFamilies(projection, this.event)) {
        throw new Undecodable(this.event, 'its type is not known to this version');
      }
      return [];
    }
    this.decoded ??= decode(this.event, this.keys);
    const { id, data, metadata, at, position, stream, revision } = this.decoded;
    const { ownerId, actor } = metadata;
    const made = handler(data, { ownerId, at, position, stream, revision, eventId: id, actor });
    return Array.isArray(made) ? (made as readonly Sql[]) : [made as Sql];
  }
}

/** Whether an event is on a stream of another application, with which this product shares the event store. */
export const isForeign = ({ stream }: StoredEvent): boolean => !categories.has(categoryOf(stream));

type Handler = NonNullable<Projection['on'][string]>;

const handlerOf = ({ on }: Projection, type: string): Handler | undefined =>
  Object.hasOwn(on, type) ? on[type] : undefined;

const families = new WeakMap<Projection, ReadonlySet<string>>();

/**
 * Whether an event is of a family that the read model handles: `thread.created` and `thread-1` are of the family `thread`.
 * Why: a read model of threads must not skip a type of thread events that this version does not know.
 */
function isOfFamilies(projection: Projection, { type, stream }: StoredEvent): boolean {
  let known = families.get(projection);
  if (!known) {
    known = new Set(Object.keys(projection.on).map((handled) => before('.', handled)));
    families.set(projection, known);
  }
  return known.has(before('.', type)) || known.has(before('-', stream));
}

const before = (mark: string, text: string): string => text.slice(0, Math.max(text.indexOf(mark), 0));
