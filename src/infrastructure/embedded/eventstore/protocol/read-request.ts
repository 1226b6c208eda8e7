import { readStreamName } from './stream-identifier.js';
import { HUGE, MalformedMessage, WireReader } from '../../../protobuf/wire.js';

export interface FilterRequest {
  readonly on: 'stream' | 'type';
  readonly regex: string;
  readonly prefixes: readonly string[];
  /** Events considered per window; undefined when the client leaves it to the server. */
  readonly window: number | undefined;
  /** Windows per checkpoint. */
  readonly interval: number;
}

export interface ReadRequest {
  /** Undefined means all streams. */
  readonly stream: string | undefined;
  /** A revision of the stream, or a position when all streams are read. */
  readonly from: number | 'start' | 'end';
  readonly backwards: boolean;
  readonly resolveLinks: boolean;
  /** Undefined for a subscription. */
  readonly count: number | undefined;
  readonly filter: FilterRequest | undefined;
  readonly uuids: 'string' | 'structured';
}

type Draft = { -readonly [Key in keyof ReadRequest]: ReadRequest[Key] };

export function readReadRequest(bytes: Buffer): ReadRequest {
  const request = new WireReader(bytes);
  const draft: Draft = {
    stream: undefined,
    from: 'start',
    backwards: false,
    resolveLinks: false,
    count: undefined,
    filter: undefined,
    uuids: 'structured',
  };
  let subject = false;
  while (request.next()) {
    if (request.field === 1) subject = readOptions(request.message(), draft);
    else request.skip();
  }
  if (!subject) throw new MalformedMessage('neither a stream nor all streams are asked for');
  return draft;
}

function readOptions(options: WireReader, draft: Draft): boolean {
  let subject = false;
  let counted = false;
  while (options.next()) {
    switch (options.field) {
      case 1:
        readStreamOptions(options.message(), draft);
        subject = true;
        break;
      case 2:
        readAllOptions(options.message(), draft);
        subject = true;
        break;
      case 3:
        draft.backwards = options.number() === 1;
        break;
      case 4:
        draft.resolveLinks = options.bool();
        break;
      case 5:
        draft.count = options.number();
        counted = true;
        break;
      case 6:
        draft.count = undefined;
        counted = true;
        options.skip();
        break;
      case 7:
        draft.filter = readFilter(options.message());
        break;
      case 9:
        draft.uuids = readUuidOption(options.message());
        break;
      default:
        options.skip();
    }
  }
  if (!counted) throw new MalformedMessage('neither a count nor a subscription is asked for');
  return subject;
}

const revision = (value: number): number | 'end' => (value >= HUGE ? 'end' : value);

function readStreamOptions(options: WireReader, draft: Draft): void {
  draft.stream = '';
  while (options.next()) {
    if (options.field === 1) draft.stream = readStreamName(options.message());
    else if (options.field === 2) draft.from = revision(options.number());
    else {
      if (options.field === 3) draft.from = 'start';
      if (options.field === 4) draft.from = 'end';
      options.skip();
    }
  }
}

function readAllOptions(options: WireReader, draft: Draft): void {
  draft.stream = undefined;
  while (options.next()) {
    if (options.field === 1) draft.from = readPosition(options.message());
    else {
      if (options.field === 2) draft.from = 'start';
      if (options.field === 3) draft.from = 'end';
      options.skip();
    }
  }
}

/** The commit position; this server's prepare positions are the same. */
function readPosition(position: WireReader): number | 'end' {
  let commit = 0;
  while (position.next()) {
    if (position.field === 1) commit = position.number();
    else position.skip();
  }
  return revision(commit);
}

function readUuidOption(option: WireReader): 'string' | 'structured' {
  let form: 'string' | 'structured' = 'structured';
  while (option.next()) {
    if (option.field === 2) form = 'string';
    option.skip();
  }
  return form;
}

function readFilter(options: WireReader): FilterRequest {
  let on: FilterRequest['on'] | undefined;
  let expression = { regex: '', prefixes: [] as readonly string[] };
  let window: number | undefined;
  let interval = 1;
  while (options.next()) {
    if (options.field === 1 || options.field === 2) {
      on = options.field === 1 ? 'stream' : 'type';
      expression = readExpression(options.message());
    } else if (options.field === 3) window = options.number();
    else if (options.field === 5) interval = options.number();
    else options.skip();
  }
  if (on === undefined) throw new MalformedMessage('a filter says neither stream nor type');
  return { on, ...expression, window, interval };
}

function readExpression(expression: WireReader): { regex: string; prefixes: readonly string[] } {
  let regex = '';
  const prefixes: string[] = [];
  while (expression.next()) {
    if (expression.field === 1) regex = expression.string();
    else if (expression.field === 2) prefixes.push(expression.string());
    else expression.skip();
  }
  return { regex, prefixes };
}
