import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ModelTurn } from '../../src/application/ports/models.js';

/** A request as a provider gets it. */
export interface ModelRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** Turns of the assistant in the conversation. */
  readonly turns: number;
  /** Names of the tools that are offered. */
  readonly tools: readonly string[];
  /** The whole request as text. */
  readonly text: string;
}

export interface ModelServer {
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  close(): Promise<void>;
}

/** What a provider answers: words and tools, a status that is no success, a redirection, or nothing at all. */
export type ModelAnswer = ModelTurn | { readonly status: number } | { readonly location: string } | 'silence';

/** A model provider on this machine that speaks both dialects: Anthropic's Messages and OpenAI's Chat Completions. */
export async function modelServer(
  answer: (request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>,
): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const server = createServer((incoming, response) => {
    void (async () => {
      const request = await requestOf(incoming);
      requests.push(request);
      respond(response, request, await answer(request));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a server that listens on TCP has one
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function requestOf(incoming: IncomingMessage): Promise<ModelRequest> {
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  const body = (text === '' ? {} : JSON.parse(text)) as {
    messages?: readonly { readonly role: string }[];
    tools?: readonly { readonly name?: string; readonly function?: { readonly name: string } }[];
  }; // as both dialects have it
  return {
    path: incoming.url ?? '',
    headers: incoming.headers,
    body,
    text,
    turns: (body.messages ?? []).filter(({ role }) => role === 'assistant').length,
    tools: (body.tools ?? []).map((tool) => tool.name ?? tool.function?.name ?? ''),
  };
}

function respond(response: ServerResponse, { path }: ModelRequest, answer: ModelAnswer): void {
  if (answer === 'silence') return;
  if ('location' in answer) return void response.writeHead(307, { location: answer.location }).end();
  const status = 'status' in answer ? answer.status : 200;
  response.writeHead(status, { 'content-type': 'application/json' });
  if ('status' in answer) return void response.end(JSON.stringify({ error: { type: 'error', message: 'no' } }));
  response.end(JSON.stringify(path.endsWith('/messages') ? asMessages(answer) : asCompletion(answer)));
}

const asMessages = ({ text, calls }: ModelTurn) => ({
  id: 'msg',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, tool: name, input }) => ({ type: 'tool_use', id, name, input })),
  ],
  stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
});

const asCompletion = ({ text, calls }: ModelTurn) => ({
  id: 'cmpl',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
      message: {
        role: 'assistant',
        content: text === '' ? null : text,
        ...(calls.length > 0 && {
          tool_calls: calls.map(({ id, tool: name, input }) => ({
            id,
            type: 'function',
            function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
          })),
        }),
      },
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
