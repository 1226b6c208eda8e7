import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it came. */
export interface Came {
  /** `GET /v1/me`, with the query. */
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answer = (response: ServerResponse, came: Came) => void;

/** A server that answers as the test says, one answer after the other; the last one again and again. */
export interface ScriptServer {
  readonly url: string;
  /** Requests so far, oldest first. */
  readonly came: readonly Came[];
  close(): Promise<void>;
}

export async function startScriptServer(...answers: readonly Answer[]): Promise<ScriptServer> {
  const came: Came[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const arrived = { line: `${method} ${url}`, headers, body: Buffer.concat(chunks).toString() };
      came.push(arrived);
      answers[Math.min(came.length, answers.length) - 1]?.(response, arrived);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // Listening on TCP.
    came,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Headings = Readonly<Record<string, string>>;

const json = (status: number, body: unknown, headers: Headings): Answer => {
  const text = JSON.stringify(body);
  return (response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
};

export const correlationId = '3f0b8f0e-7b8e-4c6a-9d52-0f6d2b0c8a11';

/** A success in the envelope's form. */
export const success = (data: unknown, reported: object = {}): Answer =>
  json(200, { data, correlationId, ...reported }, {});

/** A refusal in the envelope's form. */
export const refusal = (status: number, error: object, headers: Headings = {}): Answer =>
  json(status, { error: { message: 'No.', retryable: false, ...error }, correlationId }, headers);

export const text = (status: number, body: string, headers: Headings = {}): Answer => {
  return (response) => response.writeHead(status, headers).end(body);
};

/** Breaks the connection in place of an answer. */
export const cut: Answer = (response) => response.destroy();

/** Tells some events, and then: ends, breaks, or stays silent. */
export const events =
  (blocks: readonly string[], then: 'end' | 'break' | 'silence'): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(blocks.map((block) => `${block}\n\n`).join(''), () => {
      if (then === 'end') response.end();
      if (then === 'break') response.destroy();
    });
  };

/** Begins an answer and breaks the connection. */
export const half =
  (body: string, headers: Headings = {}): Answer =>
  (response) => {
    response.writeHead(200, headers).write(body, () => response.destroy());
  };
