import type { PadRef } from '../../../application/ports/pad-keys.js';

/**
 * The names of keys. A pad is two keys, `scratchpad:{owner}:{scratchpad}:content` (a hash) and `…:entries` (a list), and
 * while a clear is unfinished `…:cleared:{clearId}`. Two sets name dirty pads: `scratchpads:touched`, and
 * `scratchpads:audited` for those that an audit has taken. Invariant: no key ever has a TTL.
 */
export class KeyNames {
  readonly dirty: string;
  readonly taken: string;

  constructor(readonly prefix: string) {
    this.dirty = `${prefix}scratchpads:touched`;
    this.taken = `${prefix}scratchpads:audited`;
  }

  content(pad: PadRef): string {
    return this.of(pad, 'content');
  }

  entries(pad: PadRef): string {
    return this.of(pad, 'entries');
  }

  /** The copy of what a clear removed. */
  cleared(pad: PadRef, clearId: string): string {
    return this.of(pad, `cleared:${clearId}`);
  }

  of({ ownerId, scratchpadId }: PadRef, name: string): string {
    return `${this.prefix}scratchpad:${ownerId}:${scratchpadId}:${name}`;
  }
}

/** A pad as a member of a set. */
export const memberOf = ({ ownerId, scratchpadId }: PadRef): string => `${ownerId}:${scratchpadId}`;

export function padOf(member: string): PadRef {
  const [ownerId = '', scratchpadId = ''] = member.split(':');
  return { ownerId, scratchpadId };
}
