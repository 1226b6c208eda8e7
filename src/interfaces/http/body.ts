import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Issue } from '../../domain/kernel/refusal.js';
import { scanJson } from './json-scan.js';

/** Bytes of a body, as sent and again when inflated. */
export const maxBodyBytes = 1_048_576;

/** What a request's body holds, or what is wrong with it. */
export type Body = { readonly fields: Record<string, unknown> } | { readonly issue: Issue };

/** Reads a body as a JSON object; no body at all is an empty one. Undefined when the client went away meanwhile. */
export async function readBody(request: IncomingMessage): Promise<Body | undefined> {
  if (!hasBody(request)) return { fields: {} };
  const sent = await collect(request);
  if (sent === 'gone') return undefined;
  if (sent === 'too big') return tooBig;
  if (sent.length === 0) return { fields: {} };
  if (!isJson(request.headers['content-type'])) return wrong('Content-Type', 'must be application/json in UTF-8');
  const bytes = await inflated(sent, request.headers['content-encoding']);
  return Buffer.isBuffer(bytes) ? parse(bytes) : bytes;
}

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

const wrong = (param: string, rule: string): Body => ({ issue: { param, rule } });
const tooBig = wrong('body', `at most ${maxBodyBytes} bytes`);

const isJson = (type: string | undefined): boolean =>
  type === 'application/json' ||
  (type !== undefined && /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type));

/** The bytes as they arrive. What exceeds the limit is let go by, not kept, so that the client can read its answer. */
const collect = (request: IncomingMessage): Promise<Buffer | 'too big' | 'gone'> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBodyBytes) chunks.push(chunk);
      else resolve('too big');
    });
    request.on('end', () => {
      const [first] = chunks;
      resolve(chunks.length === 1 && first ? first : Buffer.concat(chunks));
    });
    request.on('error', () => resolve('gone'));
  });

const inflaters = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) };

async function inflated(bytes: Buffer, encoding: string | undefined): Promise<Buffer | Body> {
  if (encoding === undefined || encoding === 'identity') return bytes;
  const inflater = Object.entries(inflaters).find(([name]) => name === encoding.toLowerCase())?.[1];
  if (!inflater) return wrong('Content-Encoding', 'must be gzip, deflate or br');
  try {
    return await inflater(bytes, { maxOutputLength: maxBodyBytes });
  } catch (error) {
    const isBomb = error instanceof RangeError;
    return isBomb ? tooBig : wrong('body', 'is not what Content-Encoding says');
  }
}

function parse(bytes: Buffer): Body {
  if (!isUtf8(bytes)) return wrong('body', 'must be UTF-8');
  const text = bytes.toString();
  const issue = scanJson(text);
  if (issue) return { issue };
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { fields: value } : wrong('body', 'must be a JSON object');
  } catch {
    return wrong('body', 'must be JSON'); // The parser's own message would repeat the body.
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
