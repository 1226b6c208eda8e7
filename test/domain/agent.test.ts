import type { z } from 'zod';
import { abandon, agent, enroll, replay, retire, type Submission } from '../../src/domain/agent/agent.js';
import type { agentEvents, AgentEvent, Fence } from '../../src/domain/agent/events.js';
import { credential, remove, rotate } from '../../src/domain/credential/credential.js';
import type { CredentialEvent } from '../../src/domain/credential/events.js';
import { givenFor } from '../support/given.js';

const fence: Fence = {
  operation: 'agent.enroll',
  key: 'key-1',
  principal: 'user_ada',
  scope: 'user:user_ada',
  digest: 'ab',
  digestForm: 1,
  replayMode: 'actor-bound',
  outcome: 'agent-1',
};
const data: z.output<(typeof agentEvents)['agent.enrolled']> = {
  agentId: 'agent-1',
  ownerId: 'user_ada',
  harness: 'native',
  provider: 'anthropic',
  model: 'm',
  name: 'Scout',
  persona: null,
  credentialMode: 'intake',
  credentialId: 'cred_1',
  credentialVersionId: 'version-1',
  fence,
};
const enrolled: AgentEvent = { type: 'agent.enrolled', data };
const abandonment = { agentId: 'agent-1', credentialVersionId: 'version-1' };
const abandoned: AgentEvent = { type: 'agent.enrollment_abandoned', data: abandonment };
const retired: AgentEvent = { type: 'agent.retired', data: { agentId: 'agent-1', reason: 'owner_erased' } };
const replayed: AgentEvent = {
  type: 'agent.enrollment_replayed',
  data: {
    agentId: 'agent-1',
    principal: 'user_ada',
    fence: { operation: 'agent.enroll', key: 'key-1', eventId: 'event-0' },
  },
};

describe('an agent', () => {
  const given = givenFor(agent);

  it('is enrolled once', () => given().when(enroll, data).then(enrolled));
  it('is not enrolled twice', () => given(enrolled).when(enroll, data).thenRefused('conflict'));
  it('is not enrolled once its enrollment was abandoned', () =>
    given(abandoned).when(enroll, data).thenRefused('conflict'));
  it('that never was is abandoned', () => given().when(abandon, abandonment).then(abandoned));
  it('is abandoned only once', () => given(abandoned).when(abandon, abandonment).thenNothing());
  it('that is enrolled cannot be abandoned', () => given(enrolled).when(abandon, abandonment).thenRefused('conflict'));
  it('is retired', () => given(enrolled).when(retire, 'owner_erased').then(retired));
  it('is retired only once', () => given(enrolled, retired).when(retire, 'owner_erased').thenNothing());
  it('that never was cannot be retired', () => given().when(retire, 'owner_erased').thenRefused('not_found'));
});

describe('a recorded enrollment', () => {
  const given = givenFor(agent);
  const submission: Submission = fence;
  const owners = (ownerId: string) => ownerId === 'user_ada';
  const nobody = () => false;

  it('is answered again to its actor, and that is noted', () =>
    given(enrolled).when(replay, submission, owners, 'event-0').then(replayed));
  it('is answered again any number of times', () =>
    given(enrolled, replayed, replayed).when(replay, submission, owners, 'event-0').then(replayed));

  it.each<[string, Partial<Submission>]>([
    ['another replay mode', { replayMode: 'shared' }],
    ['another scope', { scope: 'user:user_bob' }],
    ['another digest', { digest: 'cd' }],
    ['a digest of another form', { digestForm: 2 }],
    ['another actor', { principal: 'user_bob' }],
  ])('is not answered to %s', (_, other) =>
    given(enrolled)
      .when(replay, { ...submission, ...other }, owners, 'event-0')
      .thenRefused('conflict'),
  );

  it('is not answered to who may not read the agent any more', () =>
    given(enrolled).when(replay, submission, nobody, 'event-0').thenRefused('conflict'));
  it('is not answered once the agent is retired', () =>
    given(enrolled, retired).when(replay, submission, owners, 'event-0').thenRefused('conflict'));
  it('that was abandoned is no outcome', () =>
    given(abandoned).when(replay, submission, owners, 'event-0').thenRefused('conflict'));
});

describe('a credential', () => {
  const given = givenFor(credential);
  const naming = { credentialId: 'cred_1', provider: 'anthropic' };
  const rotation = (position: string) => ({
    ...naming,
    versionId: 'version-2',
    previousVersionId: 'version-1',
    agentId: 'agent-2',
    position,
  });
  const rotated = (position: string): CredentialEvent => ({ type: 'credential.rotated', data: rotation(position) });
  const deleted = (upTo: string): CredentialEvent => ({ type: 'credential.deleted', data: { ...naming, upTo } });

  it('notes its rotation', () => given().when(rotate, rotation('20')).then(rotated('20')));
  it('notes a rotation once', () => given(rotated('20')).when(rotate, rotation('20')).thenNothing());
  it('notes no rotation that a later one has overtaken', () =>
    given(rotated('100')).when(rotate, rotation('20')).thenNothing());
  it('is deleted up to its latest version', () => given().when(remove, naming, '20').then(deleted('20')));
  it('is deleted only once', () => given(deleted('20')).when(remove, naming, undefined).thenNothing());
  it('is deleted again once it was taken in again', () =>
    given(deleted('20')).when(remove, naming, '30').then(deleted('30')));
  it('that never was cannot be deleted', () => given().when(remove, naming, undefined).thenRefused('not_found'));
});
