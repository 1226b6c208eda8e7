import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** The protocol's two generations, which one endpoint serves: `modern` asks first, `legacy` begins with a handshake. */
export type Era = 'modern' | 'legacy';

export interface McpConnection {
  readonly client: Client;
  /** Bodies of the answers that came, oldest first, as they came. */
  readonly bodies: readonly string[];
  call(name: string, args?: Record<string, unknown>, meta?: Record<string, unknown>): Promise<ToolAnswer>;
  close(): Promise<void>;
}

export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  readonly data: unknown;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly code: string | undefined;
}

/** The official client, connected to the MCP door of a server. */
export async function mcpClient(
  url: string,
  key: string,
  { era = 'modern', headers = {} }: { readonly era?: Era; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<McpConnection> {
  const bodies: string[] = [];
  const client = new Client(
    { name: 'palimpsest-tests', version: '0' },
    { versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', url), {
      requestInit: { headers: { authorization: `Bearer ${key}`, ...headers } },
      async fetch(input, init) {
        const response = await fetch(input, init);
        const copy = response.clone();
        if (response.status < 400 && response.body) bodies.push(await copy.text());
        return response;
      },
    }),
  );
  return {
    client,
    bodies,
    async call(name, args = {}, meta) {
      const { isError, content, structuredContent, _meta } = await client.callTool({
        name,
        arguments: args,
        ...(meta && { _meta: meta }),
      });
      const [first] = content;
      const error = (structuredContent as { error?: { code?: string } } | undefined)?.error; // of refusals only
      return {
        isError: isError === true,
        text: first?.type === 'text' ? first.text : '',
        data: structuredContent,
        meta: _meta ?? {},
        code: isError === true ? error?.code : undefined,
      };
    },
    close: () => client.close(),
  };
}

/** One request in the protocol's modern form, as bytes: for what the official client would not send or not show. */
export async function rpc(
  url: string,
  key: string | undefined,
  { method, params, headers = {} }: RpcMessage,
): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }> {
  const name = params?.['name'];
  return post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: modern(params) } }), {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
    ...headers,
  });
}

export interface RpcMessage {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const modern = (params: RpcMessage['params']) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'palimpsest-tests', version: '0' },
  'io.modelcontextprotocol/clientCapabilities': {},
  ...(params?.['_meta'] as object | undefined), // an object or absent, as the tests send it
});

/** Bytes, as they are. */
export async function post(url: string, body: string | Buffer, headers: Readonly<Record<string, string>>) {
  const response = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
