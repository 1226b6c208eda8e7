import { randomUUID } from 'node:crypto';
import { isRefusal, refuse, type Issue, type Refusal } from '../../domain/kernel/refusal.js';
import type { Authenticate } from '../access/authenticate.js';
import { resolveBinding, checkBinding, type ScratchpadBinding } from './steps/bind-scratchpad.js';
import { actorOf, authorOf, type Caller } from '../access/caller.js';
import { digestOf } from '../kernel/canonical-json.js';
import type { OperationContext } from '../operation/context.js';
import { makeCursors } from '../operation/cursors.js';
import { derivedId, derivedUuid, isRandomUuid, isUuid, newId } from '../kernel/ids.js';
import { LiveStream } from './live-stream.js';
import { mayCall } from '../operation/authorization.js';
import type { LiveSource, Operation, Page } from '../operation/operation.js';
import { envelopeFields, invalid, parseInput } from '../kernel/validation.js';
import { BackendUnavailable, OutcomeUnknown, Overloaded, OwnerErased, WrongRevision } from '../faults/errors.js';
import type { ReadDbs, Watermark } from '../ports/read-models.js';
import { withinCodes } from '../operation/refusal-codes.js';
import { makeStreams, type CommandContext, type StreamsNeeds } from '../event-sourcing/aggregates.js';

/** A request as a door hands it over: still raw, but for the split into these parts. */
export interface Request {
  readonly operation: Operation;
  readonly input: unknown;
  /** Set when the door could not read the request: answered in place of running it, to callers who may run it. */
  readonly unreadable?: Refusal<'validation_failed'> | undefined;
  /** The bearer key, as sent. */
  readonly token: string | undefined;
  readonly correlationId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** `"r7"`, as sent. */
  readonly ifMatch?: string | undefined;
  /** The scratchpad that tools act on, where the door is told one. */
  readonly scratchpad?: string | undefined;
  /** Where events are to go on, as a door's own protocol says it; it wins over the field `lastEventId`. */
  readonly lastEventId?: string | undefined;
  /** Position that the read models must have reached before a read is answered; nothing to a command. */
  readonly minPosition?: string | undefined;
  /** True: a command is answered without waiting for the read models. */
  readonly respondAsync?: boolean | undefined;
  readonly door: 'rest' | 'mcp' | 'cli' | 'chat' | 'research';
}

export interface Success {
  readonly data: unknown;
  readonly page?: Omit<Page<unknown>, 'items'>;
  readonly position?: string;
  readonly replayed?: true;
}

export interface Reply {
  readonly correlationId: string;
  readonly result: Success | Refusal;
}

export type Gateway = (request: Request) => Promise<Reply>;

/** Says no before an operation runs: overload, rate limits, budgets. Undefined lets it pass. */
export type Admission = (operation: Operation, caller: Caller) => Promise<Refusal | undefined>;

export interface GatewayNeeds extends StreamsNeeds {
  readonly authenticate: Authenticate;
  readonly admissions: readonly Admission[];
  readonly dbs: ReadDbs;
  readonly readModels: Watermark;
  readonly cursorKey: Buffer;
  /** The parts of an operation's context that do not depend on the request. */
  readonly shared: Pick<
    OperationContext,
    'working' | 'live' | 'purges' | 'keys' | 'subjects' | 'projections' | 'vault' | 'harnesses' | 'models' | 'log'
  >;
}

const projectionWaitMs = 1_000;
const reachWithinMs = 2_000;
const shownWithinMs = 10_000;

/** The one path that every door takes. Read `answer` top to bottom: a step that says no ends it. */
export function makeGateway(needs: GatewayNeeds): Gateway {
  return async (request) => {
    const started = performance.now();
    const fields = fieldsOf(request);
    const correlationId = isUuid(fields.correlationId ?? '') ? String(fields.correlationId) : randomUUID();
    const answered = await answer(needs, request, fields, correlationId);
    const result = isRefusal(answered) ? withinCodes(request.operation, answered) : answered;
    const outcome = isRefusal(result) ? result.refused : 'ok';
    needs.metrics.observe('palimpsest_operation_seconds', (performance.now() - started) / 1000, {
      operation: request.operation.name,
      door: request.door,
      outcome,
    });
    return { correlationId, result };
  };
}

async function answer(
  needs: GatewayNeeds,
  request: Request,
  fields: Fields,
  correlationId: string,
): Promise<Success | Refusal> {
  const { operation } = request;
  try {
    const caller = await needs.authenticate(request.token);
    if (!caller) return refuse('authentication_failed');
    if (!mayCall(caller, operation)) return refuse('authorization_refused');
    for (const admit of needs.admissions) {
      const refusal = await admit(operation, caller);
      if (refusal) return refusal;
    }
    if (request.unreadable) return request.unreadable;
    const envelope = checkEnvelope(request, fields);
    if (isRefusal(envelope)) return envelope;
    const parsed = parseInput(operation, fields.rest);
    if (isRefusal(parsed)) return parsed;
    const pad = resolveBinding(caller, request.scratchpad);
    if (isRefusal(pad)) return pad;
    const outside = checkBinding(caller, operation, parsed.input);
    if (outside) return outside;
    if (envelope.minPosition !== undefined && !(await needs.readModels.waitFor(envelope.minPosition, reachWithinMs))) {
      return refuse('unavailable', 'The read models have not reached that position yet.', { retryAfterSeconds: 1 });
    }
    const run = new Run(needs, operation, caller, correlationId, parsed.input, { ...envelope, pad });
    const outcome = await operation.run(parsed.input, run.context);
    if (isRefusal(outcome)) return outcome;
    if (run.position !== undefined && operation.awaitsProjection !== 'at once' && !request.respondAsync) {
      await needs.readModels.waitFor(run.position, projectionWaitMs);
    }
    if (operation.kind === 'events') {
      // An events operation's type makes it answer happenings.
      const happenings = outcome as LiveSource;
      const mayGoOn = async () => stillMay(await needs.authenticate(request.token), caller, operation);
      return { data: new LiveStream(operation, happenings, mayGoOn, needs.metrics) };
    }
    return checked(operation, outcome, run);
  } catch (fault) {
    return faulted(needs, operation, correlationId, fault);
  }
}

/** Whoever listens may go on for as long as they could begin again, as the same. */
const stillMay = (now: Caller | undefined, then: Caller, operation: Operation): boolean =>
  now?.userId === then.userId && now.role === then.role && mayCall(now, operation);

interface Fields {
  readonly idempotencyKey: string | undefined;
  readonly correlationId: string | undefined;
  /** The first that is not text, or disagrees with its header. */
  readonly wrong: Issue | undefined;
  readonly rest: unknown;
}

/** Takes the envelope's fields out of the input, unless the operation has a field of that name with a meaning of its own. */
function fieldsOf({ operation, input, correlationId, idempotencyKey, lastEventId }: Request): Fields {
  const sent = { correlationId, idempotencyKey };
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return { ...sent, wrong: undefined, rest: input };
  const rest: Record<string, unknown> = { ...input };
  let wrong: Issue | undefined;
  for (const field of envelopeFields) {
    const value = rest[field];
    if (value === undefined || field in operation.input.shape) continue;
    if (field === 'idempotencyKey' && operation.kind !== 'command') continue;
    if (typeof value !== 'string') wrong ??= { param: field, rule: 'must be a string' };
    else if (sent[field] === undefined || sent[field] === value) sent[field] = value;
    else wrong ??= { param: field, rule: 'the header and the field must be the same text' };
    Reflect.deleteProperty(rest, field);
  }
  // Browsers reconnect with the URL they began with, so the header is the newer.
  if (operation.kind === 'events' && lastEventId !== undefined) rest['lastEventId'] = lastEventId;
  return {
    correlationId: sent.correlationId?.toLowerCase(),
    idempotencyKey: sent.idempotencyKey?.toLowerCase(),
    wrong,
    rest,
  };
}

interface Envelope {
  readonly idempotencyKey: string | undefined;
  readonly ifMatch: number | undefined;
  readonly minPosition: bigint | undefined;
}

function checkEnvelope(
  { operation, ifMatch, ...request }: Request,
  fields: Fields,
): Envelope | Refusal<'validation_failed'> {
  // What a command stores does not depend on the read models: it waits for none.
  const minPosition = operation.kind === 'command' ? undefined : request.minPosition;
  const wrong = (param: string, rule: string) => invalid([{ param, rule }]);
  const { idempotencyKey, correlationId } = fields;
  if (fields.wrong) return invalid([fields.wrong]);
  if (correlationId !== undefined && !isUuid(correlationId)) return wrong('correlationId', 'must be a uuid');
  if (idempotencyKey !== undefined && !isUuid(idempotencyKey)) return wrong('idempotencyKey', 'must be a uuid');
  if (operation.requiresIdempotencyKey) {
    if (idempotencyKey === undefined) return wrong('idempotencyKey', 'is required');
    if (!isRandomUuid(idempotencyKey)) return wrong('idempotencyKey', 'must be a random uuid');
  }
  const revision = ifMatch === undefined ? undefined : /^"r(\d{1,15})"$/.exec(ifMatch)?.[1];
  if (ifMatch !== undefined && revision === undefined) return wrong('If-Match', 'must be a content revision like "r7"');
  if (minPosition !== undefined && !/^\d{1,19}$/.test(minPosition))
    return wrong('Palimpsest-Min-Position', 'must be a position');
  return {
    idempotencyKey,
    ifMatch: revision === undefined ? undefined : Number(revision),
    minPosition: minPosition === undefined ? undefined : BigInt(minPosition),
  };
}

/** One run of an operation: its context, and what it turned out to store. */
class Run {
  position: bigint | undefined;
  replayed: boolean | undefined;
  readonly context: OperationContext;

  constructor(
    needs: GatewayNeeds,
    operation: Operation,
    caller: Caller,
    correlationId: string,
    input: unknown,
    { idempotencyKey, ifMatch, pad }: Envelope & { readonly pad: ScratchpadBinding | undefined },
  ) {
    const bound = operation.tool && pad ? [pad.scratchpadId] : [];
    const named = idempotencyKey === undefined ? undefined : [caller.userId, operation.name, idempotencyKey, ...bound];
    const idempotency =
      idempotencyKey === undefined
        ? undefined
        : {
            key: idempotencyKey,
            operation: operation.name,
            digest: digestOf(operation.fingerprint ? operation.fingerprint(input) : input),
          };
    const commandId = named ? derivedUuid('command', ...named) : randomUUID();
    const command: CommandContext = {
      ownerId: caller.userId,
      actor: actorOf(caller),
      correlationId,
      commandId,
      ...(idempotency && { idempotency }),
      onOutcome: (position, replayed) => {
        this.replayed ??= replayed;
        if (position !== undefined && position > (this.position ?? -1n)) this.position = position;
      },
    };
    this.context = {
      caller,
      correlationId,
      author: authorOf(caller),
      now: () => needs.clock.now(),
      ids: {
        make: (kind, step = '') => (named ? derivedId(kind, ...named, step) : newId(kind, needs.clock.now())),
        uuid: (step) => derivedUuid(commandId, step),
      },
      streams: makeStreams(needs, command),
      db: needs.dbs.for(caller.userId),
      everyTenant: caller.role === 'member' ? undefined : needs.dbs.system,
      cursors: makeCursors(needs.cursorKey, caller.userId),
      shown: (position) => needs.readModels.waitFor(position, shownWithinMs),
      idempotency,
      pad,
      ifMatch,
      // Last: an object that begins with a spread and then grows costs V8 13 µs, four times the rest of the gateway.
      ...needs.shared,
    };
  }
}

/** Strips an outcome to the operation's declared output, so that nothing undeclared leaves. */
function checked(operation: Operation, outcome: unknown, run: Run): Success {
  const told = {
    ...(run.position !== undefined && { position: run.position.toString() }),
    ...(run.replayed === true && { replayed: true as const }),
  };
  // A stream operation's type makes it answer an async iterable.
  if (operation.kind === 'stream') return { data: stripped(operation, outcome as AsyncIterable<unknown>), ...told };
  if (operation.kind !== 'list') return { data: operation.output.parse(outcome), ...told };
  // A list operation's type makes it answer a page.
  const { items, nextCursor, lost } = outcome as Page<unknown>;
  const page = { nextCursor, ...(lost && { lost }) };
  return { data: items.map((item) => operation.output.parse(item)), page, ...told };
}

async function* stripped(operation: Operation, items: AsyncIterable<unknown>): AsyncIterable<unknown> {
  for await (const item of items) yield operation.output.parse(item);
}

/** A command of several steps may have come by the first of them. */
const tooMuch = 'Too much is asked at once. It is safe to try again with the same idempotency key.';

/** Faults are told to the log by name, never shown whole: drivers put rows and commands into their errors (M11). */
function faulted(
  { shared, metrics }: GatewayNeeds,
  operation: Operation,
  correlationId: string,
  fault: unknown,
): Refusal {
  if (fault instanceof OwnerErased) return refuse('not_found');
  if (fault instanceof WrongRevision) {
    return refuse('unavailable', 'Too many writers at once. It is safe to try again.', { retryAfterSeconds: 1 });
  }
  if (fault instanceof Overloaded) return refuse('unavailable', tooMuch, { retryAfterSeconds: 1 });
  metrics.count('palimpsest_faults_total', { operation: operation.name });
  shared.log.error({ ...describeFault(fault), operation: operation.name, correlationId }, 'operation faulted');
  return refuse('internal_fault');
}

/**
 * The parts of an error that are safe to log: its kind, its code, where it was thrown; not its message. Where a backend is
 * away is not to be found in our code, and every request would say so again.
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
