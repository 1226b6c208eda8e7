export interface RestReply {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it came, byte for byte. */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly data: unknown;
  readonly code: string | undefined;
}

type Headings = Readonly<Record<string, string>>;

/** Calls the API as any HTTP client would. */
export interface RestClient {
  send(method: string, path: string, body?: unknown, headers?: Headings): Promise<RestReply>;
  get(path: string, headers?: Headings): Promise<RestReply>;
  post(path: string, body?: unknown, headers?: Headings): Promise<RestReply>;
  put(path: string, body: unknown, headers?: Headings): Promise<RestReply>;
  patch(path: string, body: unknown, headers?: Headings): Promise<RestReply>;
  delete(path: string, headers?: Headings): Promise<RestReply>;
}

export function restClient(url: string, key: string): RestClient {
  const send = async (method: string, path: string, body?: unknown, headers: Headings = {}): Promise<RestReply> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // Events have no end of their own: that they began is the answer.
    const isEndless = response.headers.get('content-type')?.startsWith('text/event-stream');
    const text = isEndless ? '' : await response.text();
    if (isEndless) await response.body?.cancel();
    const parsed: unknown = response.headers.get('content-type')?.includes('json') && text ? tryParse(text) : {};
    const envelope = parsed as { data?: unknown; error?: { code?: string } }; // every JSON answer is an envelope
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: envelope,
      data: envelope.data,
      code: envelope.error?.code,
    };
  };
  return {
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body = {}, headers = {}) => send('POST', path, body, headers),
    put: (path, body, headers) => send('PUT', path, body, headers),
    patch: (path, body, headers) => send('PATCH', path, body, headers),
    delete: (path, headers) => send('DELETE', path, undefined, headers),
  };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {}; // lines of JSON (exports) are read from `text`
  }
}
