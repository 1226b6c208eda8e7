import { randomUUID } from 'node:crypto';
import type { Engine } from '../engine/engine.js';
import type { StoredEvent } from '../engine/events.js';
import { MAX_MESSAGE_BYTES } from '../engine/limits.js';
import { makeFilter, type Filter } from '../filter/filter.js';
import { PatternError } from '../filter/pattern.js';
import type { Call } from '../grpc/call.js';
import { CallError, Status } from '../grpc/status.js';
import { readReadRequest, type ReadRequest } from '../protocol/read-request.js';
import { confirmationFrame, notFoundFrame } from '../protocol/read-response.js';
import { nameFault } from './admission.js';
import { streamDeleted, translated } from './errors.js';
import { EventSender } from './event-sender.js';
import { followAll } from './follow-all.js';
import { followStream } from './follow-stream.js';
import { isProjected, PROJECTED } from './unsupported.js';

/** Reads and subscriptions: one call, distinguished by what it asks for. */
export function read(engine: Engine, call: Call): void {
  const onMessage = (message: Buffer): void => {
    serve(engine, call, message).catch((fault: unknown) => call.fail(unavailable(translated(fault), engine)));
  };
  call.receive({ onMessage }, MAX_MESSAGE_BYTES);
}

async function serve(engine: Engine, call: Call, message: Buffer): Promise<void> {
  const request = readReadRequest(message);
  const filter = filterOf(request);
  const reason = request.stream === undefined ? undefined : nameFault(request.stream);
  if (reason !== undefined) throw new CallError(Status.invalidArgument, reason);
  if (request.stream !== undefined && isProjected(request.stream)) await refuseAbsent(engine, request.stream);
  const sender = new EventSender(engine, call, request);
  if (request.count === undefined) return subscribe(engine, call, request, filter, sender);
  const pages =
    request.stream === undefined ? allPages(engine, request) : await streamPages(engine, request.stream, request);
  if (pages) await sendCounted(pages, request.count, filter, call, sender);
  else call.write(notFoundFrame(request.stream ?? ''));
  call.accept();
  call.finish();
}

async function refuseAbsent(engine: Engine, stream: string): Promise<void> {
  const { state } = await engine.reader.view(stream);
  if (state === 'absent') throw new CallError(Status.unimplemented, PROJECTED);
}

async function subscribe(
  engine: Engine,
  call: Call,
  request: ReadRequest,
  filter: Filter | undefined,
  sender: EventSender,
): Promise<void> {
  if (request.backwards) throw new CallError(Status.invalidArgument, 'A subscription goes forwards.');
  call.write(confirmationFrame(randomUUID()));
  if (request.stream === undefined) await followAll(engine, call, request.from, filter, sender);
  else await followStream(engine, call, request.stream, request.from, sender);
}

async function streamPages(
  engine: Engine,
  stream: string,
  { from, backwards, count = 0 }: ReadRequest,
): Promise<AsyncGenerator<StoredEvent[]> | undefined> {
  const view = await engine.reader.view(stream);
  if (view.state === 'tombstoned') throw streamDeleted(stream);
  if (view.state === 'absent') return undefined;
  const start = from === 'start' ? 0 : from === 'end' ? (backwards ? view.last : view.last + 1) : from;
  return engine.reader.pages(stream, view, { from: start, backwards, limit: count });
}

/** Positions forwards count from themselves on, backwards from the event before. */
function allPages(engine: Engine, { from, backwards, count = 0, filter }: ReadRequest): AsyncGenerator<StoredEvent[]> {
  const limit = filter ? Number.MAX_SAFE_INTEGER : count;
  const end = Number.MAX_SAFE_INTEGER;
  if (backwards)
    return engine.reader.allPages({ from: from === 'end' ? end : from === 'start' ? 0 : from - 1, backwards, limit });
  return engine.reader.allPages({
    from: from === 'end' ? end : from === 'start' ? 1 : Math.max(1, from),
    backwards,
    limit,
  });
}

async function sendCounted(
  pages: AsyncGenerator<StoredEvent[]>,
  count: number,
  filter: Filter | undefined,
  call: Call,
  sender: EventSender,
): Promise<void> {
  let left = count;
  if (left === 0) return;
  for await (const page of pages) {
    const wanted = (filter ? page.filter((event) => filter.matches(event)) : page).slice(0, left);
    await sender.send(wanted);
    left -= wanted.length;
    if (left <= 0 || !call.open) return;
  }
}

function filterOf({ filter, stream }: ReadRequest): Filter | undefined {
  if (!filter) return undefined;
  if (stream !== undefined) throw new CallError(Status.invalidArgument, 'Only reads of all events can be filtered.');
  try {
    return makeFilter(filter);
  } catch (fault) {
    if (fault instanceof PatternError) throw new CallError(Status.invalidArgument, fault.message);
    throw fault;
  }
}

/** A read that failed because storage is away is asked to come back, and to whom it happened is not a fault here. */
const unavailable = (fault: unknown, engine: Engine): unknown =>
  fault instanceof CallError || engine.serving
    ? fault
    : new CallError(Status.unavailable, 'The event store cannot reach its database now.');
