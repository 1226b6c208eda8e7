import type { Aggregate, Decision } from '../kernel/decider.js';
import { refuse } from '../kernel/refusal.js';
import type { ThreadEvent } from './events.js';

/**
 * A thread's stream is also the uniqueness set of its scratchpad: one slot, filled and emptied at exact revisions
 * (S1, 03-flows "scratchpad.create"). It keeps counts, never texts, so that it stays small however long the thread.
 */
export type Thread =
  | { readonly status: 'absent' }
  | { readonly status: 'deleted'; readonly id: string; readonly scratchpadId: string | null }
  | {
      readonly status: 'open';
      readonly id: string;
      readonly scratchpadId: string | null;
      readonly messages: number;
    };

export const thread: Aggregate<Thread, ThreadEvent> = {
  category: 'thread',
  initial: { status: 'absent' },
  evolve: {
    'thread.created': (_, { threadId }) => ({ status: 'open', id: threadId, scratchpadId: null, messages: 0 }),
    'thread.updated': (state) => state,
    'thread.scratchpad_attached': (state, { scratchpadId }) => whileOpen(state, { scratchpadId }),
    'thread.scratchpad_detached': (state) => whileOpen(state, { scratchpadId: null }),
    'thread.deleted': (_, { threadId, scratchpadId }) => ({ status: 'deleted', id: threadId, scratchpadId }),
    'message.appended': (state, { index }) => whileOpen(state, { messages: index }),
    'message.deleted': (state) => state,
  },
};

type OpenThread = Extract<Thread, { status: 'open' }>;

const whileOpen = (state: Thread, change: Partial<Pick<OpenThread, 'scratchpadId' | 'messages'>>): Thread =>
  state.status === 'open' ? { ...state, ...change } : state;

type DataOf<Type extends ThreadEvent['type']> = Extract<ThreadEvent, { type: Type }>['data'];

export const create = (state: Thread, data: DataOf<'thread.created'>): Decision<ThreadEvent, 'conflict'> =>
  state.status === 'absent' ? [{ type: 'thread.created', data }] : refuse('conflict', 'This thread exists already.');

export const update = (
  state: Thread,
  change: Omit<DataOf<'thread.updated'>, 'threadId'>,
): Decision<ThreadEvent, 'not_found'> =>
  state.status === 'open' ? [{ type: 'thread.updated', data: { threadId: state.id, ...change } }] : refuse('not_found');

export const attachScratchpad = (
  state: Thread,
  scratchpadId: string,
): Decision<ThreadEvent, 'not_found' | 'conflict'> => {
  if (state.status !== 'open') return refuse('not_found');
  if (state.scratchpadId !== null) return refuse('conflict', 'This thread already has a scratchpad.');
  return [{ type: 'thread.scratchpad_attached', data: { threadId: state.id, scratchpadId } }];
};

/** Detaching what is not attached is done already. */
export const detachScratchpad = (state: Thread, scratchpadId: string): Decision<ThreadEvent> =>
  state.status === 'open' && state.scratchpadId === scratchpadId
    ? [{ type: 'thread.scratchpad_detached', data: { threadId: state.id, scratchpadId } }]
    : [];

/** Deleting twice is one wish granted once: the second time, nothing happens. */
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
