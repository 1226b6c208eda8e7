import type { ScratchpadEvent } from '../../src/domain/scratchpad/events.js';
import * as pads from '../../src/domain/scratchpad/scratchpad.js';
import { givenFor } from '../support/given.js';

const given = givenFor(pads.scratchpad);
const creation = { scratchpadId: 'sp_1', threadId: 'thread_1', ownerId: 'user_1' };
const created: ScratchpadEvent = { type: 'scratchpad.created', data: creation };
const author = { type: 'key', id: 'key_1' };
const size = { bytes: 4, sha256: 'ab', author };
const set = (revision: number): ScratchpadEvent => ({
  type: 'scratchpad.content_set',
  data: { scratchpadId: 'sp_1', revision, ...size },
});
const cleared = (revision: number): ScratchpadEvent => ({
  type: 'scratchpad.content_cleared',
  data: { scratchpadId: 'sp_1', revision, author },
});
const deleted: ScratchpadEvent = { type: 'scratchpad.deleted', data: { scratchpadId: 'sp_1', threadId: 'thread_1' } };
const purged: ScratchpadEvent = { type: 'scratchpad.purged', data: { scratchpadId: 'sp_1' } };

describe('a scratchpad', () => {
  it('is created once', () => given().when(pads.create, creation).then(created));
  it('that exists needs no creating', () => given(created).when(pads.create, creation).thenNothing());
  it('is never created again once it was deleted', () =>
    given(created, deleted).when(pads.create, creation).thenNothing());
  it('can be deleted', () => given(created).when(pads.remove).then(deleted));
  it('is deleted only once', () => given(created, deleted).when(pads.remove).thenNothing());
  it('is purged after it was deleted', () => given(created, deleted).when(pads.purge).then(purged));
  it('is not purged while it lives', () => given(created).when(pads.purge).thenNothing());
  it('is purged only once', () => given(created, deleted, purged).when(pads.purge).thenNothing());
  it('takes new metadata', () =>
    given(created)
      .when(pads.update, { a: 'b' })
      .then({ type: 'scratchpad.updated', data: { scratchpadId: 'sp_1', metadata: { a: 'b' } } }));
  it('takes no metadata once it is deleted', () =>
    given(created, deleted).when(pads.update, {}).thenRefused('not_found'));
});

describe("a scratchpad's content", () => {
  it('starts at revision one', () => given(created).when(pads.setContent, size, undefined).then(set(1)));
  it('counts every change', () =>
    given(created, set(1), cleared(2)).when(pads.setContent, size, undefined).then(set(3)));
  it('changes at the revision that was read', () => given(created, set(1)).when(pads.setContent, size, 1).then(set(2)));
  it('does not change at a revision that has passed', () =>
    given(created, set(1), set(2)).when(pads.setContent, size, 1).thenRefused('conflict'));
  it('can be cleared', () => given(created, set(1)).when(pads.clearContent, author, undefined).then(cleared(2)));
  it('is not cleared at a revision that has passed', () =>
    given(created, set(1), set(2)).when(pads.clearContent, author, 1).thenRefused('conflict'));
  it('of a deleted scratchpad cannot be set', () =>
    given(created, deleted).when(pads.setContent, size, undefined).thenRefused('not_found'));
  it('of a deleted scratchpad cannot be cleared', () =>
    given(created, deleted).when(pads.clearContent, author, undefined).thenRefused('not_found'));
});
