import * as claims from '../../src/domain/scratchpad/claims.js';
import { entryKinds, mayWrite } from '../../src/domain/scratchpad/entry-kinds.js';
import type { ClaimEvent } from '../../src/domain/scratchpad/events.js';
import { givenFor } from '../support/given.js';

const given = givenFor(claims.claims);
const [ada, bob] = [
  { type: 'key', id: 'key_ada' },
  { type: 'key', id: 'key_bob' },
];
// `given` stores its events at midnight.
const claim = (holder: typeof ada, entryId: string, expiresAt = '2026-01-01T00:05:00.000Z') => ({
  scratchpadId: 'sp_1',
  subjectSha256: 'ab',
  entryId,
  holder,
  expiresAt,
});
const taken = (...of: Parameters<typeof claim>): ClaimEvent => ({ type: 'scratchpad.claim_taken', data: claim(...of) });
const during = '2026-01-01T00:04:59.999Z';
const after = '2026-01-01T00:05:00.000Z';

describe('a claim', () => {
  it('is taken by the first', () => given().when(claims.take, claim(ada, 'ent_1'), during).then(taken(ada, 'ent_1')));
  it('is a conflict for a second claimer', () =>
    given(taken(ada, 'ent_1')).when(claims.take, claim(bob, 'ent_2'), during).thenRefused('conflict'));
  it('can be taken again by its holder, for longer', () =>
    given(taken(ada, 'ent_1')).when(claims.take, claim(ada, 'ent_2'), during).then(taken(ada, 'ent_2')));
  it('is free once it has run out', () =>
    given(taken(ada, 'ent_1')).when(claims.take, claim(bob, 'ent_2'), after).then(taken(bob, 'ent_2')));
  it('on another subject is not in the way', () => {
    const other = { ...claim(bob, 'ent_2'), subjectSha256: 'cd' };
    return given(taken(ada, 'ent_1'))
      .when(claims.take, other, during)
      .then({ type: 'scratchpad.claim_taken', data: other });
  });
  it('that has run out is dropped from the state', () => {
    const old = taken(ada, 'ent_1', '2025-12-31T23:59:59.000Z');
    const next: ClaimEvent = { type: 'scratchpad.claim_taken', data: { ...claim(bob, 'ent_2'), subjectSha256: 'cd' } };
    expect(Object.keys(given(old, next).state.leases)).toEqual(['cd']);
  });
});

describe('who may write which kind', () => {
  it('is everything for the owner', () => expect(entryKinds.every((kind) => mayWrite(undefined, kind))).toBe(true));
  it('is plans and directives for a supervisor', () =>
    expect(entryKinds.filter((kind) => mayWrite('supervisor', kind))).toEqual([
      'note',
      'strategy',
      'tombstone',
      'directive',
    ]));
  it('is findings and claims for a worker', () =>
    expect(entryKinds.filter((kind) => mayWrite('worker', kind))).toEqual([
      'note',
      'claim',
      'verified',
      'unverified',
      'failed_source',
      'tombstone',
    ]));
});
