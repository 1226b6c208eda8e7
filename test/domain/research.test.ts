import type { Failure, ResearchEvent } from '../../src/domain/research/events.js';
import * as researches from '../../src/domain/research/research.js';
import { beginResearch, thread } from '../../src/domain/thread/thread.js';
import type { ThreadEvent } from '../../src/domain/thread/events.js';
import { givenFor } from '../support/given.js';

const given = givenFor(researches.research);
const researchId = 'run_1';
const asked = {
  researchId,
  ownerId: 'user_1',
  threadId: 'thread_1',
  scratchpadId: 'sp_1',
  question: 'Why?',
  supervisorAgentId: 'a1',
  supervisorThreadId: 'thread_2',
  workerAgentIds: ['a2'],
  keyId: 'key_1',
  workspaceId: 'ws_1',
  limits: { maxTurns: 4, maxCalls: 2, deadlineSeconds: 60 },
};
const startedAt = '2026-01-01T00:00:00.000Z';
const deadlineAt = '2026-01-01T00:01:00.000Z';
const started: ResearchEvent = { type: 'research.started', data: { ...asked, deadlineAt } };
const claimed = (attempt: number): ResearchEvent => ({ type: 'research.claimed', data: { researchId, attempt } });
const call = (callId: string) => ({ callId, agentId: 'a2', threadId: `thread of ${callId}` });
const delegated = (callId: string): ResearchEvent => ({
  type: 'research.delegated',
  data: { researchId, ...call(callId) },
});
const succeeded = (callId: string): ResearchEvent => ({
  type: 'research.call_finished',
  data: { researchId, callId, outcome: 'succeeded' },
});
const failed = (callId: string, failure: Failure): ResearchEvent => ({
  type: 'research.call_finished',
  data: { researchId, callId, outcome: 'failed', failure },
});
const completed: ResearchEvent = { type: 'research.completed', data: { researchId, answer: 'So.' } };
const runFailed = (reason: Failure): ResearchEvent => ({ type: 'research.failed', data: { researchId, reason } });
const cancelled: ResearchEvent = { type: 'research.cancelled', data: { researchId, reason: 'asked' } };

describe('a run of research', () => {
  it('starts once, with its deadline', () => given().when(researches.start, asked, startedAt).then(started));
  it('is not started twice', () => given(started).when(researches.start, asked, startedAt).thenRefused('conflict'));

  it('is claimed', () => given(started).when(researches.claim, 0, startedAt).then(claimed(1)));
  it('is claimed once by two who saw the same', () =>
    given(started, claimed(1)).when(researches.claim, 0, startedAt).thenRefused('conflict'));
  it('that was claimed before has lost the workers that were under way', () =>
    given(started, claimed(1), delegated('c1'), delegated('c2'), succeeded('c1'))
      .when(researches.claim, 1, startedAt)
      .then(failed('c2', 'worker_lost'), claimed(2)));
  it('is given up after three attempts, with each call finished', () =>
    given(started, claimed(1), claimed(2), claimed(3), delegated('c1'))
      .when(researches.claim, 3, startedAt)
      .then(failed('c1', 'worker_lost'), runFailed('worker_lost')));
  it('that is claimed after its deadline has failed by it', () =>
    given(started).when(researches.claim, 0, deadlineAt).then(runFailed('deadline_exceeded')));
  it('that has ended is not claimed', () =>
    given(started, claimed(1), completed).when(researches.claim, 1, startedAt).thenRefused('conflict'));
  it('that never was is not claimed', () => given().when(researches.claim, 0, startedAt).thenRefused('not_found'));

  it('is completed by the process that claimed it', () =>
    given(started, claimed(1)).when(researches.complete, 1, 'So.').then(completed));
  it('is not completed by a process that was replaced', () =>
    given(started, claimed(1), claimed(2)).when(researches.complete, 1, 'So.').thenRefused('conflict'));
  it('is not completed twice', () =>
    given(started, claimed(1), completed).when(researches.complete, 1, 'So.').thenRefused('conflict'));

  it('that fails by its deadline says so of the calls that were open', () =>
    given(started, claimed(1), delegated('c1'))
      .when(researches.fail, 1, 'deadline_exceeded')
      .then(failed('c1', 'deadline_exceeded'), runFailed('deadline_exceeded')));
  it('that fails otherwise cancels the calls that were open', () =>
    given(started, claimed(1), delegated('c1'))
      .when(researches.fail, 1, 'model_failed')
      .then(failed('c1', 'cancelled'), runFailed('model_failed')));

  it('is cancelled with the calls that were open', () =>
    given(started, claimed(1), delegated('c1'))
      .when(researches.cancel, 'asked')
      .then(failed('c1', 'cancelled'), cancelled));
  it('is cancelled before anybody took it up', () => given(started).when(researches.cancel, 'asked').then(cancelled));
  it('is cancelled only once', () => given(started, cancelled).when(researches.cancel, 'asked').thenNothing());
  it('that has ended by itself is not cancelled', () =>
    given(started, claimed(1), completed).when(researches.cancel, 'asked').thenRefused('conflict'));
  it('that was cancelled takes no more', () => {
    const over = given(started, claimed(1), delegated('c1'), failed('c1', 'cancelled'), cancelled);
    over.when(researches.delegate, 1, call('c2')).thenRefused('conflict');
    over.when(researches.finishCall, 1, 'c1', undefined).thenRefused('conflict');
    over.when(researches.complete, 1, 'So.').thenRefused('conflict');
  });
});

describe('a delegated call', () => {
  const running = [started, claimed(1)];

  it('is delegated by the process that claimed the run', () =>
    given(...running)
      .when(researches.delegate, 1, call('c1'))
      .then(delegated('c1')));
  it('is delegated once', () =>
    given(...running, delegated('c1'))
      .when(researches.delegate, 1, call('c1'))
      .thenNothing());
  it('is not delegated by a process that was replaced', () =>
    given(...running, claimed(2))
      .when(researches.delegate, 1, call('c1'))
      .thenRefused('conflict'));
  it('is the last where all of the run were made', () =>
    given(...running, delegated('c1'), succeeded('c1'), delegated('c2'))
      .when(researches.delegate, 1, call('c3'))
      .thenRefused('precondition_failed'));
  it('has one result', () => {
    given(...running, delegated('c1'))
      .when(researches.finishCall, 1, 'c1', undefined)
      .then(succeeded('c1'));
    given(...running, delegated('c1'), succeeded('c1'))
      .when(researches.finishCall, 1, 'c1', 'model_failed')
      .thenRefused('conflict');
  });
  it('has a named failure', () =>
    given(...running, delegated('c1'))
      .when(researches.finishCall, 1, 'c1', 'turn_limit_reached')
      .then(failed('c1', 'turn_limit_reached')));
  it('that was lost has no other result later', () =>
    given(...running, delegated('c1'), failed('c1', 'worker_lost'), claimed(2))
      .when(researches.finishCall, 1, 'c1', undefined)
      .thenRefused('conflict'));
  it('that never was has no result', () =>
    given(...running)
      .when(researches.finishCall, 1, 'c1', undefined)
      .thenRefused('conflict'));
});

describe('a thread on which research begins', () => {
  const givenThread = givenFor(thread);
  const data = { threadId: 'thread_1', ownerId: 'user_1', title: null, metadata: {} };
  const created: ThreadEvent = { type: 'thread.created', data };
  const attached: ThreadEvent = {
    type: 'thread.scratchpad_attached',
    data: { threadId: 'thread_1', scratchpadId: 'sp_1' },
  };
  const noted: ThreadEvent = { type: 'thread.research_begun', data: { threadId: 'thread_1', researchId } };
  const deleted: ThreadEvent = { type: 'thread.deleted', data: { threadId: 'thread_1', scratchpadId: 'sp_1' } };

  it('gets a scratchpad, if it has none', () =>
    givenThread(created).when(beginResearch, researchId, 'sp_1').then(attached, noted));
  it('keeps the one that it has', () =>
    givenThread(created, attached).when(beginResearch, researchId, 'sp_2').then(noted));
  it('is there', () => {
    givenThread().when(beginResearch, researchId, 'sp_1').thenRefused('not_found');
    givenThread(created, attached, deleted).when(beginResearch, researchId, 'sp_1').thenRefused('not_found');
  });
  it('knows its runs, also when it is deleted', () =>
    expect(givenThread(created, attached, noted, deleted).state).toMatchObject({ researchIds: [researchId] }));
});
