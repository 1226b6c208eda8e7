import type { Request } from 'express';
import { randomUUID } from 'node:crypto';
import { isUuid } from '../../application/kernel/ids.js';

/** The correlation id that a request brings in `X-Correlation-Id`, or a new one. */
export function correlationIdOf(request: Request): string {
  const sent = request.get('x-correlation-id')?.toLowerCase() ?? '';
  return isUuid(sent) ? sent : randomUUID();
}
