import type { RequestHandler } from 'express';
import { createHash } from 'node:crypto';
import type { Operation } from '../../application/operation/operation.js';
import { openApi } from './openapi/document.js';

/** `/openapi.json`, open to everyone: it is written when it is first asked for, once, and not sent to clients that have it. */
export function apiDocument(operations: readonly Operation[], version: string): RequestHandler {
  let written: { readonly bytes: Buffer; readonly etag: string } | undefined;
  return (_request, response) => {
    response.locals['route'] = '/openapi.json';
    written ??= tagged(Buffer.from(JSON.stringify(openApi(operations, version))));
    response.set({ ETag: written.etag, 'Cache-Control': 'no-cache' });
    response.type('json').send(written.bytes);
  };
}

const tagged = (bytes: Buffer) => ({ bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` });
