import { connect } from 'node:net';
import { goodKey } from './rest-stand.js';

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** What answers hold, loosely: tests look at single members. */
export interface Parsed {
  readonly data?: unknown;
  readonly page?: unknown;
  readonly correlationId?: string;
  readonly position?: string;
  readonly replayed?: boolean;
  readonly error?: {
    readonly code: string;
    readonly param?: string;
    readonly issues?: readonly { readonly param: string; readonly rule: string }[];
    readonly [member: string]: unknown;
  };
}

/** Sends one request with the good key; a body is JSON unless the headers say otherwise. */
export async function send(url: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Answer> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${goodKey}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : new Uint8Array(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

// The door's answers are JSON objects; members are checked by the tests.
export const parsed = ({ text }: Answer): Parsed => JSON.parse(text) as Parsed;

/** Sends bytes as they are, and answers everything that came back until the server closed. */
export const sendRaw = (port: number, bytes: string | Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
