export interface ServerSent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Follows server-sent events as a browser does, over any HTTP client's fetch. */
export interface EventStream {
  readonly status: number;
  readonly headers: Headers;
  /** The resume point: the last id that came, also that of a block without an event. */
  lastId(): string | undefined;
  /** Comments so far, without their colon. */
  comments(): readonly string[];
  /** The next event; undefined when the server has ended the answer, or cut it off. */
  next(): Promise<ServerSent | undefined>;
  /** The next `count` events. */
  take(count: number): Promise<readonly ServerSent[]>;
  /** Every event until the answer ends. */
  rest(): Promise<readonly ServerSent[]>;
  close(): Promise<void>;
}

export async function openEvents(
  url: string,
  key: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventStream> {
  const leaving = new AbortController();
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream', ...headers },
    signal: leaving.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let lastId: string | undefined;
  const comments: string[] = [];

  const block = async (): Promise<string | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end >= 0) {
        const found = text.slice(0, end);
        text = text.slice(end + 2);
        return found;
      }
      // A cut connection ends the events as the end of the answer does.
      const read = await reader?.read().catch(() => undefined);
      if (!read || read.done) return undefined;
      text += read.value;
    }
  };

  const next = async (): Promise<ServerSent | undefined> => {
    for (let found = await block(); found !== undefined; found = await block()) {
      const fields = new Map(found.split('\n').map((line) => [line.slice(0, line.indexOf(':')), after(line)] as const));
      const comment = fields.get('');
      if (comment !== undefined) comments.push(comment);
      lastId = fields.get('id') ?? lastId;
      const data = fields.get('data');
      if (data === undefined) continue;
      // What the product tells is a JSON object.
      return {
        id: fields.get('id'),
        event: fields.get('event') ?? 'message',
        data: JSON.parse(data) as ServerSent['data'],
      };
    }
    return undefined;
  };

  return {
    status: response.status,
    headers: response.headers,
    lastId: () => lastId,
    comments: () => comments,
    next,
    async take(count) {
      const taken: ServerSent[] = [];
      while (taken.length < count) {
        const event = await next();
        if (!event) throw new Error(`The events ended after ${taken.length} of ${count}.`);
        taken.push(event);
      }
      return taken;
    },
    async rest() {
      const all: ServerSent[] = [];
      for (let event = await next(); event; event = await next()) all.push(event);
      return all;
    },
    async close() {
      leaving.abort();
      await reader?.cancel().catch(() => undefined);
    },
  };
}

const after = (line: string): string => line.slice(line.indexOf(':') + 1).replace(/^ /, '');
