import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

/** What a client learned of a request. Times by the client's monotonic clock, in milliseconds. */
export interface Answer {
  /** 0: no answer came. */
  readonly status: number;
  readonly data: unknown;
  readonly code: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly begun: number;
  readonly ended: number;
}

type Headings = Readonly<Record<string, string>>;

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Headings;
}

/** How long a client waits for an answer before it counts as lost: the longest that an operation may take, and a second. */
export const deadlineMs = 11_000;

/** A client that takes lost answers as what they are, and can ask for one thing until it is acknowledged. */
export class Caller {
  private turn = 0;

  constructor(
    private readonly urls: readonly [string, ...string[]],
    readonly key: string,
  ) {}

  /** The same client with another key. */
  as(key: string): Caller {
    return new Caller(this.urls, key);
  }

  /** The same client at another door. */
  at(url: string): Caller {
    return new Caller([url], this.key);
  }

  get(path: string): Promise<Answer> {
    return this.once({ method: 'GET', path });
  }

  async once({ method, path, body, headers = {} }: Call, withinMs = deadlineMs): Promise<Answer> {
    const url = this.urls[(this.turn += 1) % this.urls.length] ?? this.urls[0];
    const begun = performance.now();
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        signal: AbortSignal.timeout(withinMs),
        headers: {
          authorization: `Bearer ${this.key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json') === true && !text.includes('}\n{');
      const parsed = (isJson && text !== '' ? JSON.parse(text) : {}) as Answer['body'] & { error?: { code?: string } }; // every JSON answer is an envelope
      const { data, error } = parsed;
      return { status: response.status, data, code: error?.code, body: parsed, text, begun, ended: performance.now() };
    } catch {
      const ended = performance.now();
      return { status: 0, data: undefined, code: undefined, body: {}, text: '', begun, ended };
    }
  }

  /** Asks again, with the same idempotency key, until there is an answer that is not "try again". */
  async surely(
    call: Call,
    options: { readonly idempotencyKey?: string; readonly withinMs?: number } = {},
  ): Promise<Answer> {
    const { idempotencyKey = randomUUID(), withinMs = 60_000 } = options;
    const headers = { ...call.headers, ...(call.method !== 'GET' && { 'idempotency-key': idempotencyKey }) };
    const until = performance.now() + withinMs;
    for (;;) {
      const answer = await this.once({ ...call, headers });
      if (answer.status !== 0 && answer.status < 500 && answer.status !== 429) return answer;
      if (performance.now() > until)
        throw new Error(`${call.method} ${call.path} was not answered: ${answer.status} ${answer.text}`);
      await pause(30);
    }
  }

  /** The data of a call that must succeed. */
  async done<Data = Readonly<Record<string, unknown>>>(method: string, path: string, body?: unknown): Promise<Data> {
    const answer = await this.surely({ method, path, ...(body === undefined ? {} : { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status} ${answer.text}`);
    return answer.data as Data; // as the operation declares
  }
}
