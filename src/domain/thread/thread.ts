import type { Aggregate } from '../kernel/aggregate.js';
import type { Decision } from '../kernel/decision.js';
import { refuse } from '../kernel/refusal.js';
import type { ThreadEvent } from './events.js';

/**
 * A thread. Invariant: at most one scratchpad is attached, because its slot is filled and emptied at exact revisions
 * (docs/flows.md#create-scratchpad). Why counts and revisions in place of texts: the state stays small however long the
 * thread, and nothing personal is in a snapshot.
 */
export type Thread =
  | { readonly status: 'absent' }
  | {
      readonly status: 'deleted';
      readonly id: string;
      readonly scratchpadId: string | null;
      readonly researchIds: readonly string[];
    }
  | {
      readonly status: 'open';
      readonly id: string;
      readonly scratchpadId: string | null;
      /** Runs of research that this thread is the parent of, ended or not. */
      readonly researchIds: readonly string[];
      readonly messages: number;
      readonly createdAt: string;
      readonly updatedAt: string;
      /** Revisions of the events that have the latest title and metadata. */
      readonly titleIn: number;
      readonly metadataIn: number;
    };

export const thread: Aggregate<Thread, ThreadEvent> = {
  category: 'thread',
  initial: { status: 'absent' },
  evolve: {
    'thread.created': (_, { threadId }, { at, revision }) => ({
      status: 'open',
      id: threadId,
      scratchpadId: null,
      researchIds: [],
      messages: 0,
      createdAt: at,
      updatedAt: at,
      titleIn: revision,
      metadataIn: revision,
    }),
    'thread.updated': (state, { title, metadata }, { at, revision }) =>
      whileOpen(state, {
        updatedAt: at,
        ...(title !== undefined && { titleIn: revision }),
        ...(metadata !== undefined && { metadataIn: revision }),
      }),
    'thread.scratchpad_attached': (state, { scratchpadId }, { at }) =>
      whileOpen(state, { scratchpadId, updatedAt: at }),
    'thread.scratchpad_detached': (state, _, { at }) => whileOpen(state, { scratchpadId: null, updatedAt: at }),
    'thread.research_begun': (state, { researchId }) =>
      state.status === 'open' ? { ...state, researchIds: [...state.researchIds, researchId] } : state,
    'thread.deleted': (state, { threadId, scratchpadId }) => ({
      status: 'deleted',
      id: threadId,
      scratchpadId,
      researchIds: state.status === 'absent' ? [] : state.researchIds,
    }),
    'message.appended': (state, { index }) => whileOpen(state, { messages: index }),
    'message.deleted': (state) => state,
  },
  snapshotVersion: 3,
};

export type OpenThread = Extract<Thread, { status: 'open' }>;

const whileOpen = (state: Thread, change: Partial<Omit<OpenThread, 'status' | 'id'>>): Thread =>
  state.status === 'open' ? { ...state, ...change } : state;

type DataOf<Type extends ThreadEvent['type']> = Extract<ThreadEvent, { type: Type }>['data'];

export const create = (state: Thread, data: DataOf<'thread.created'>): Decision<ThreadEvent, 'conflict'> =>
  state.status === 'absent' ? [{ type: 'thread.created', data }] : refuse('conflict', 'This thread exists already.');

/** Records only what changes, so that concurrent changes of title and metadata do not undo each other. */
export const update = (
  state: Thread,
  { title, metadata }: Omit<DataOf<'thread.updated'>, 'threadId'>,
): Decision<ThreadEvent, 'not_found'> => {
  if (state.status !== 'open') return refuse('not_found');
  if (title === undefined && metadata === undefined) return [];
  const change = { ...(title !== undefined && { title }), ...(metadata !== undefined && { metadata }) };
  return [{ type: 'thread.updated', data: { threadId: state.id, ...change } }];
};

export const attachScratchpad = (
  state: Thread,
  scratchpadId: string,
): Decision<ThreadEvent, 'not_found' | 'conflict'> => {
  if (state.status !== 'open') return refuse('not_found');
  if (state.scratchpadId !== null) return refuse('conflict', 'This thread already has a scratchpad.');
  return [{ type: 'thread.scratchpad_attached', data: { threadId: state.id, scratchpadId } }];
};

/** Detaches a scratchpad; one that is not attached changes nothing. */
export const detachScratchpad = (state: Thread, scratchpadId: string): Decision<ThreadEvent> =>
  state.status === 'open' && state.scratchpadId === scratchpadId
    ? [{ type: 'thread.scratchpad_detached', data: { threadId: state.id, scratchpadId } }]
    : [];

/** Begins a run on the thread's scratchpad; a thread without one gets `newScratchpadId`. */
export const beginResearch = (
  state: Thread,
  researchId: string,
  newScratchpadId: string,
): Decision<ThreadEvent, 'not_found'> => {
  if (state.status !== 'open') return refuse('not_found');
  const threadId = state.id;
  const begun: ThreadEvent = { type: 'thread.research_begun', data: { threadId, researchId } };
  return state.scratchpadId === null
    ? [{ type: 'thread.scratchpad_attached', data: { threadId, scratchpadId: newScratchpadId } }, begun]
    : [begun];
};

/** Deletes a thread; deleting again changes nothing. */
export const remove = (state: Thread): Decision<ThreadEvent, 'not_found'> => {
  if (state.status === 'absent') return refuse('not_found');
  if (state.status === 'deleted') return [];
  return [{ type: 'thread.deleted', data: { threadId: state.id, scratchpadId: state.scratchpadId } }];
};

export const appendMessage = (
  state: Thread,
  message: Omit<DataOf<'message.appended'>, 'threadId' | 'index'>,
): Decision<ThreadEvent, 'not_found'> => {
  if (state.status !== 'open') return refuse('not_found');
  return [{ type: 'message.appended', data: { threadId: state.id, index: state.messages + 1, ...message } }];
};

export const removeMessage = (state: Thread, messageId: string): Decision<ThreadEvent, 'not_found'> =>
  state.status === 'open'
    ? [{ type: 'message.deleted', data: { threadId: state.id, messageId } }]
    : refuse('not_found');

/** Answers whether this scratchpad is in the thread's slot. */
export const isAttached = (state: Thread, scratchpadId: string): boolean =>
  state.status === 'open' && state.scratchpadId === scratchpadId;
