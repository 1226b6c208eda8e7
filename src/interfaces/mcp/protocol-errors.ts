import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/** What the door itself says no to; every refusal of an operation is a tool's result instead. */
const own = { tool: 'There is no such tool.', cursor: 'The cursor is of no listing.' } as const;

export const unknown = (what: keyof typeof own): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, own[what]);

const sentences: Readonly<Record<number, string>> = {
  [-32_000]: 'This is not how the endpoint is spoken to: POST, and accept application/json and text/event-stream.',
  [-32_020]: 'Headers and body of the request disagree.',
  [-32_022]: 'This revision of the protocol is not served.',
  [-32_600]: 'This is not one JSON-RPC message.',
  [-32_601]: 'There is no such method.',
  [-32_602]: 'The parameters do not have the shape that the method takes.',
  [-32_603]: 'Something failed on our side.',
  [-32_700]: 'This is not JSON.',
};

/** An answer without what the library's errors repeat of the request: headers, names of fields, versions. */
export async function withoutInput(answer: Response): Promise<Response> {
  const text = await answer.text();
  const cleaned = /"error":\{"code":-\d/.test(text) ? text.split('\n').map(cleanLine).join('\n') : text;
  const headers = new Headers(answer.headers);
  // The library asks to keep every connection of a handshake's clients, those that are to be closed as well.
  headers.delete('Connection');
  // And forbids reuse of them, but not that something between keeps them.
  headers.set('Cache-Control', 'no-store');
  return new Response(cleaned === '' ? null : cleaned, { status: answer.status, headers });
}

/** One message, alone or as the data of a server-sent event; JSON has no line breaks of its own. */
function cleanLine(line: string): string {
  const begin = line.startsWith('data: ') ? 'data: '.length : 0;
  return line.startsWith('{', begin) ? line.slice(0, begin) + clean(line.slice(begin)) : line;
}

interface Answer {
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

function clean(json: string): string {
  const answer = JSON.parse(json) as Answer; // The library wrote it.
  const { error } = answer;
  if (typeof error?.code !== 'number') return json;
  // It calls parameters that its schemas do not take a fault of its own, with the schema's list of issues as words.
  const code = error.code === -32_603 && error.message.startsWith('[') ? -32_602 : error.code;
  const isOurs = Object.values<string>(own).includes(error.message);
  const message = isOurs ? error.message : (sentences[code] ?? 'The request was refused.');
  return JSON.stringify({
    ...answer,
    error: { code, message, ...(code === -32_022 && { data: revisions(error.data) }) },
  });
}

/** What clients choose another revision by. The one they asked for is repeated only if it can be one. */
function revisions(data: unknown): { readonly supported: unknown; readonly requested: string } {
  const { supported, requested } = data as { supported: unknown; requested: unknown }; // as the protocol has it
  const isDate = typeof requested === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(requested);
  return { supported, requested: isDate ? requested : 'unknown' };
}
