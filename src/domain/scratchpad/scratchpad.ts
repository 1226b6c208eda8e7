import type { Aggregate } from '../kernel/aggregate.js';
import type { Decision } from '../kernel/decision.js';
import { refuse } from '../kernel/refusal.js';
import type { ScratchpadEvent } from './events.js';

export type Scratchpad =
  | { readonly status: 'absent' }
  | { readonly status: 'deleted'; readonly id: string; readonly threadId: string; readonly purged: boolean }
  | {
      readonly status: 'open';
      readonly id: string;
      readonly threadId: string;
      readonly ownerId: string;
      readonly createdAt: string;
      /** 0 until content is first set; then one more with every set or clear. */
      readonly contentRevision: number;
      /** Names the staged text of the latest revision. */
      readonly contentEventId: string | null;
      readonly contentAt: string;
      readonly bytes: number;
      readonly sha256: string;
    };

/** SHA-256 of the empty text. */
export const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export const scratchpad: Aggregate<Scratchpad, ScratchpadEvent> = {
  category: 'scratchpad',
  initial: { status: 'absent' },
  evolve: {
    'scratchpad.created': (_, { scratchpadId, threadId, ownerId }, { at }) => ({
      status: 'open',
      id: scratchpadId,
      threadId,
      ownerId,
      createdAt: at,
      contentRevision: 0,
      contentEventId: null,
      contentAt: at,
      bytes: 0,
      sha256: emptySha256,
    }),
    'scratchpad.updated': (state) => state,
    'scratchpad.content_set': (state, { revision, bytes, sha256 }, { id, at }) =>
      state.status === 'open'
        ? { ...state, contentRevision: revision, contentEventId: id, contentAt: at, bytes, sha256 }
        : state,
    'scratchpad.content_cleared': (state, { revision }, { id, at }) =>
      state.status === 'open'
        ? { ...state, contentRevision: revision, contentEventId: id, contentAt: at, bytes: 0, sha256: emptySha256 }
        : state,
    'scratchpad.deleted': (_, { scratchpadId, threadId }) => ({
      status: 'deleted',
      id: scratchpadId,
      threadId,
      purged: false,
    }),
    'scratchpad.purged': (state) => (state.status === 'deleted' ? { ...state, purged: true } : state),
  },
};

type DataOf<Type extends ScratchpadEvent['type']> = Extract<ScratchpadEvent, { type: Type }>['data'];

export const create = (state: Scratchpad, data: DataOf<'scratchpad.created'>): Decision<ScratchpadEvent> =>
  state.status === 'absent' ? [{ type: 'scratchpad.created', data }] : [];

export const update = (
  state: Scratchpad,
  metadata: DataOf<'scratchpad.updated'>['metadata'],
): Decision<ScratchpadEvent, 'not_found'> =>
  state.status === 'open'
    ? [{ type: 'scratchpad.updated', data: { scratchpadId: state.id, metadata } }]
    : refuse('not_found');

/** The content revision of `If-Match`; undefined: the last writer wins. */
export type ExpectedContent = number | undefined;

export const setContent = (
  state: Scratchpad,
  content: {
    readonly bytes: number;
    readonly sha256: string;
    readonly author: DataOf<'scratchpad.content_set'>['author'];
  },
  expected: ExpectedContent,
): Decision<ScratchpadEvent, 'not_found' | 'conflict'> => {
  if (state.status !== 'open') return refuse('not_found');
  if (expected !== undefined && expected !== state.contentRevision) return stale(state.contentRevision);
  return [
    {
      type: 'scratchpad.content_set',
      data: { scratchpadId: state.id, revision: state.contentRevision + 1, ...content },
    },
  ];
};

export const clearContent = (
  state: Scratchpad,
  author: DataOf<'scratchpad.content_cleared'>['author'],
  expected: ExpectedContent,
): Decision<ScratchpadEvent, 'not_found' | 'conflict'> => {
  if (state.status !== 'open') return refuse('not_found');
  if (expected !== undefined && expected !== state.contentRevision) return stale(state.contentRevision);
  return [
    {
      type: 'scratchpad.content_cleared',
      data: { scratchpadId: state.id, revision: state.contentRevision + 1, author },
    },
  ];
};

const stale = (revision: number) =>
  refuse('conflict', `The content is at revision r${revision}.`, { reason: 'revision_mismatch', facts: { revision } });

/** Follows `thread.scratchpad_detached` or `thread.deleted`. Deleting again changes nothing. */
export const remove = (state: Scratchpad): Decision<ScratchpadEvent> =>
  state.status === 'open'
    ? [{ type: 'scratchpad.deleted', data: { scratchpadId: state.id, threadId: state.threadId } }]
    : [];

/** Recorded once nothing of a deleted pad is left in Redis. */
export const purge = (state: Scratchpad): Decision<ScratchpadEvent> =>
  state.status === 'deleted' && !state.purged ? [{ type: 'scratchpad.purged', data: { scratchpadId: state.id } }] : [];
