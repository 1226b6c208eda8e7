import { createHmac, timingSafeEqual } from 'node:crypto';
import { refuse } from '../../domain/kernel/refusal.js';
import { canonicalJson } from '../kernel/canonical-json.js';
import type { Cursors } from './context.js';

const macBytes = 16;

/** Page marks for one caller: the place in clear, and a MAC over the owner, the list, its filter and the place. */
export const makeCursors = (key: Buffer, ownerId: string): Cursors => {
  const mac = (list: string, filter: unknown, place: string) =>
    createHmac('sha256', key)
      .update(canonicalJson([ownerId, list, filter, place]))
      .digest()
      .subarray(0, macBytes);
  return {
    seal: (list, filter, place) => Buffer.concat([mac(list, filter, place), Buffer.from(place)]).toString('base64url'),
    open(list, filter, cursor) {
      if (cursor === undefined) return undefined;
      const bytes = Buffer.from(cursor, 'base64url');
      const place = bytes.subarray(macBytes).toString();
      const genuine = bytes.length > macBytes && timingSafeEqual(bytes.subarray(0, macBytes), mac(list, filter, place));
      return genuine
        ? place
        : refuse('validation_failed', 'The cursor does not belong to this list.', {
            param: 'cursor',
            reason: 'cursor',
          });
    },
  };
};
