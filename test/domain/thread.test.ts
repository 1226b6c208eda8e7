import type { ThreadEvent } from '../../src/domain/thread/events.js';
import * as threads from '../../src/domain/thread/thread.js';
import { givenFor } from '../support/given.js';

const given = givenFor(threads.thread);
const data = { threadId: 'thread_1', ownerId: 'user_1', title: 'Plan', metadata: {} };
const created: ThreadEvent = { type: 'thread.created', data };
const attached: ThreadEvent = {
  type: 'thread.scratchpad_attached',
  data: { threadId: 'thread_1', scratchpadId: 'sp_1' },
};
const detached: ThreadEvent = {
  type: 'thread.scratchpad_detached',
  data: { threadId: 'thread_1', scratchpadId: 'sp_1' },
};
const deleted = (scratchpadId: string | null): ThreadEvent => ({
  type: 'thread.deleted',
  data: { threadId: 'thread_1', scratchpadId },
});
const message = { messageId: 'msg_1', role: 'user', content: 'Hello', author: { type: 'key', id: 'key_1' } } as const;
const appended = (index: number): ThreadEvent => ({
  type: 'message.appended',
  data: { threadId: 'thread_1', index, ...message },
});

describe('a thread', () => {
  it('is created once', () => given().when(threads.create, data).then(created));
  it('is not created twice', () => given(created).when(threads.create, data).thenRefused('conflict'));
  it('changes title and metadata', () =>
    given(created)
      .when(threads.update, { title: 'New', metadata: { a: 'b' } })
      .then({ type: 'thread.updated', data: { threadId: 'thread_1', title: 'New', metadata: { a: 'b' } } }));
  it('says of a change only what changes', () =>
    given(created)
      .when(threads.update, { title: null })
      .then({ type: 'thread.updated', data: { threadId: 'thread_1', title: null } }));
  it('is not changed by nothing', () => given(created).when(threads.update, {}).thenNothing());
  it('cannot be changed before it exists', () =>
    given().when(threads.update, { title: null, metadata: {} }).thenRefused('not_found'));
  it('can be deleted', () => given(created).when(threads.remove).then(deleted(null)));
  it('names the scratchpad that goes with it', () =>
    given(created, attached).when(threads.remove).then(deleted('sp_1')));
  it('is deleted only once', () => given(created, deleted(null)).when(threads.remove).thenNothing());
  it('that never was cannot be deleted', () => given().when(threads.remove).thenRefused('not_found'));
});

describe("a thread's slot", () => {
  it('takes one scratchpad', () => given(created).when(threads.attachScratchpad, 'sp_1').then(attached));
  it('does not take a second one', () =>
    given(created, attached).when(threads.attachScratchpad, 'sp_2').thenRefused('conflict'));
  it('does not take the same one twice', () =>
    given(created, attached).when(threads.attachScratchpad, 'sp_1').thenRefused('conflict'));
  it('takes another one after the first was deleted', () =>
    given(created, attached, detached)
      .when(threads.attachScratchpad, 'sp_2')
      .then({ type: 'thread.scratchpad_attached', data: { threadId: 'thread_1', scratchpadId: 'sp_2' } }));
  it('of a missing thread is not found', () => given().when(threads.attachScratchpad, 'sp_1').thenRefused('not_found'));
  it('of a deleted thread is not found', () =>
    given(created, deleted(null)).when(threads.attachScratchpad, 'sp_1').thenRefused('not_found'));
  it('is emptied once', () => given(created, attached).when(threads.detachScratchpad, 'sp_1').then(detached));
  it('is not emptied of a scratchpad that is not attached', () =>
    given(created, attached).when(threads.detachScratchpad, 'sp_2').thenNothing());
  it('is not emptied twice', () =>
    given(created, attached, detached).when(threads.detachScratchpad, 'sp_1').thenNothing());
});

describe('the messages of a thread', () => {
  it('are numbered from one', () => given(created).when(threads.appendMessage, message).then(appended(1)));
  it('are numbered on', () => given(created, appended(1)).when(threads.appendMessage, message).then(appended(2)));
  it('keep their numbers when one is deleted', () =>
    given(created, appended(1), { type: 'message.deleted', data: { threadId: 'thread_1', messageId: 'msg_1' } })
      .when(threads.appendMessage, message)
      .then(appended(2)));
  it('cannot be appended to a deleted thread', () =>
    given(created, deleted(null)).when(threads.appendMessage, message).thenRefused('not_found'));
  it('cannot be deleted from a deleted thread', () =>
    given(created, deleted(null)).when(threads.removeMessage, 'msg_1').thenRefused('not_found'));
});
