import { agent } from '../../../src/domain/agent/agent.js';
import { credential } from '../../../src/domain/credential/credential.js';
import { eventSchemas } from '../../../src/domain/events.js';
import { evolve, type Aggregate, type DomainEvent } from '../../../src/domain/kernel/aggregate.js';
import { personalFields } from '../../../src/domain/kernel/personal.js';
import { log } from '../../../src/domain/log/log.js';
import { key } from '../../../src/domain/key/key.js';
import { research } from '../../../src/domain/research/research.js';
import { claims } from '../../../src/domain/scratchpad/claims.js';
import { ledger } from '../../../src/domain/scratchpad/ledger.js';
import { scratchpad } from '../../../src/domain/scratchpad/scratchpad.js';
import { thread } from '../../../src/domain/thread/thread.js';
import { user } from '../../../src/domain/user/user.js';
import { workspace } from '../../../src/domain/workspace/workspace.js';
import { decode, encode } from '../../../src/application/event-sourcing/codec.js';
import { MemoryPersonalDataKeys } from '../../../src/infrastructure/memory/personal-data-keys.js';

const ownerId = 'user_1';
const id = '00000000-0000-5000-8000-000000000001';
const metadata = {
  $correlationId: '00000000-0000-4000-8000-000000000001',
  ownerId,
  actor: { type: 'user', id: ownerId },
  at: '2026-01-01T00:00:00.000Z',
} as const;

/** One sample of every event type at its first version, as the store keeps it for ever. A new version adds a sample, it edits none. */
const samples: Readonly<Record<keyof typeof eventSchemas, Readonly<Record<string, unknown>>>> = {
  'user.created': { userId: ownerId, name: 'Ada', role: 'member', workspaceId: 'ws_1', keyId: 'key_1' },
  'user.erased': { userId: ownerId },
  'workspace.created': { workspaceId: 'ws_1', name: 'Team', ownerId },
  'workspace.member_added': { workspaceId: 'ws_1', userId: 'user_2' },
  'workspace.member_removed': { workspaceId: 'ws_1', userId: 'user_2' },
  'key.created': {
    keyId: 'key_1',
    userId: ownerId,
    workspaceId: 'ws_1',
    role: 'member',
    name: 'first',
    scopes: ['threads:read'],
    secretHash: 'ab',
    display: 'plm_key_1…',
    expiresAt: null,
  },
  'key.revoked': { keyId: 'key_1' },
  'log.created': { logId: '00000000-0000-4000-8000-000000000003' },
  'thread.created': { threadId: 'thread_1', ownerId, title: 'Plan', metadata: { a: 'b' } },
  'thread.updated': { threadId: 'thread_1', title: null, metadata: {} },
  'thread.scratchpad_attached': { threadId: 'thread_1', scratchpadId: 'sp_1' },
  'thread.scratchpad_detached': { threadId: 'thread_1', scratchpadId: 'sp_1' },
  'thread.research_begun': { threadId: 'thread_1', researchId: 'run_1' },
  'thread.deleted': { threadId: 'thread_1', scratchpadId: null },
  'message.appended': {
    threadId: 'thread_1',
    messageId: 'msg_1',
    index: 1,
    role: 'user',
    content: 'Hello',
    author: { type: 'key', id: 'key_1' },
  },
  'message.deleted': { threadId: 'thread_1', messageId: 'msg_1' },
  'scratchpad.created': { scratchpadId: 'sp_1', threadId: 'thread_1', ownerId },
  'scratchpad.updated': { scratchpadId: 'sp_1', metadata: { a: 'b' } },
  'scratchpad.content_set': {
    scratchpadId: 'sp_1',
    revision: 1,
    bytes: 4,
    sha256: 'ab',
    author: { type: 'key', id: 'key_1' },
  },
  'scratchpad.content_cleared': { scratchpadId: 'sp_1', revision: 2, author: { type: 'key', id: 'key_1' } },
  'scratchpad.deleted': { scratchpadId: 'sp_1', threadId: 'thread_1' },
  'scratchpad.purged': { scratchpadId: 'sp_1' },
  'scratchpad.entry_appended': {
    scratchpadId: 'sp_1',
    entryId: 'ent_1',
    index: 1,
    kind: 'note',
    bytes: 4,
    sha256: 'ab',
    author: { type: 'key', id: 'key_1' },
  },
  'scratchpad.claim_taken': {
    scratchpadId: 'sp_1',
    subjectSha256: 'ab',
    entryId: 'ent_1',
    expiresAt: '2026-01-01T00:05:00.000Z',
    holder: { type: 'key', id: 'key_1' },
  },
  'scratchpad.entries_cleared': { scratchpadId: 'sp_1', clearId: 'c', count: 1, lastEntryId: 'ent_1' },
  'scratchpad.entries_lost': { scratchpadId: 'sp_1', clears: 0, from: 4, to: 6, reason: 'tail' },
  'scratchpad.entry_repeated': { scratchpadId: 'sp_1', clears: 0, entryId: 'ent_1', index: 9, of: 1 },
  'agent.enrolled': {
    agentId: id,
    ownerId,
    harness: 'native',
    provider: 'anthropic',
    model: 'anthropic/m',
    name: 'Scout',
    persona: 'Careful',
    credentialMode: 'intake',
    credentialId: 'cred_1',
    credentialVersionId: id,
    fence: {
      operation: 'agent.enroll',
      key: id,
      principal: ownerId,
      scope: `user:${ownerId}`,
      digest: 'ab',
      digestForm: 1,
      replayMode: 'actor-bound',
      outcome: id,
    },
  },
  'agent.enrollment_replayed': {
    agentId: id,
    principal: ownerId,
    fence: { operation: 'agent.enroll', key: id, eventId: id },
  },
  'agent.enrollment_abandoned': { agentId: id, credentialVersionId: id },
  'agent.retired': { agentId: id, reason: 'owner_erased' },
  'credential.rotated': {
    credentialId: 'cred_1',
    provider: 'anthropic',
    versionId: id,
    previousVersionId: id,
    agentId: id,
    position: '64',
  },
  'research.started': {
    researchId: 'run_1',
    ownerId,
    threadId: 'thread_1',
    scratchpadId: 'sp_1',
    question: 'Why?',
    supervisorAgentId: id,
    supervisorThreadId: 'thread_2',
    workerAgentIds: [id],
    keyId: 'key_1',
    workspaceId: 'ws_1',
    deadlineAt: '2026-01-01T00:10:00.000Z',
    limits: { maxTurns: 16, maxCalls: 16, deadlineSeconds: 600 },
  },
  'research.claimed': { researchId: 'run_1', attempt: 1 },
  'research.delegated': { researchId: 'run_1', callId: 'call_1', agentId: id, threadId: 'thread_3' },
  'research.call_finished': { researchId: 'run_1', callId: 'call_1', outcome: 'failed', failure: 'worker_lost' },
  'research.completed': { researchId: 'run_1', answer: 'Because.' },
  'research.failed': { researchId: 'run_1', reason: 'model_failed' },
  'research.cancelled': { researchId: 'run_1', reason: 'asked' },
  'credential.deleted': { credentialId: 'cred_1', provider: 'anthropic', upTo: '64' },
};

/** Further forms of types whose fields became optional, as the store keeps them too. */
const furtherSamples: readonly (readonly [keyof typeof eventSchemas, Readonly<Record<string, unknown>>])[] = [
  ['thread.updated', { threadId: 'thread_1', title: 'Plan' }],
  ['thread.updated', { threadId: 'thread_1', metadata: { a: 'b' } }],
];

const stored = (event: ReturnType<typeof encode>) => ({ ...event, stream: 'thread-1', revision: 0, position: 1n });

describe('every event type', () => {
  it('has a stored sample', () => expect(Object.keys(samples).sort()).toEqual(Object.keys(eventSchemas).sort()));

  it.each([...Object.entries(samples), ...furtherSamples])('%s reads back as it was written', async (type, data) => {
    const keys = new MemoryPersonalDataKeys();
    const event = stored(encode(id, { type, data }, metadata, await keys.sealingKey(ownerId)));
    expect(decode(event, await keys.openingKeys(new Set([ownerId]))).data).toEqual(data);
  });
});

describe('personal text', () => {
  const personalSamples = Object.entries(samples).filter(([type]) => {
    const schema = eventSchemas[type];
    return schema !== undefined && personalFields(schema).size > 0;
  });

  it('is marked in names, titles, metadata and message texts', () =>
    expect(personalSamples.map(([type]) => type).sort()).toEqual([
      'agent.enrolled',
      'key.created',
      'message.appended',
      'research.completed',
      'research.started',
      'scratchpad.updated',
      'thread.created',
      'thread.updated',
      'user.created',
      'workspace.created',
    ]));

  it.each(personalSamples)('of %s stands sealed in the store', async (type, data) => {
    const event = encode(id, { type, data }, metadata, await new MemoryPersonalDataKeys().sealingKey(ownerId));
    for (const word of ['Ada', 'Team', 'first', 'Plan', 'Hello', 'Scout', 'Careful', 'Why?', 'Because'])
      expect(JSON.stringify(event.data)).not.toContain(word);
  });

  it.each(personalSamples)('of %s reads [erased] once the key is destroyed', async (type, data) => {
    const keys = new MemoryPersonalDataKeys();
    const event = stored(encode(id, { type, data }, metadata, await keys.sealingKey(ownerId)));
    await keys.destroy(ownerId);
    expect(JSON.stringify(decode(event, await keys.openingKeys(new Set([ownerId]))).data)).toContain('[erased]');
  });

  it('does not open in the place of another event', async () => {
    const keys = new MemoryPersonalDataKeys();
    const event = stored(
      encode(
        id,
        { type: 'user.created', data: samples['user.created'] ?? {} },
        metadata,
        await keys.sealingKey(ownerId),
      ),
    );
    const moved = { ...event, id: '00000000-0000-5000-8000-000000000002' };
    const opened = await keys.openingKeys(new Set([ownerId]));
    expect(() => decode(moved, opened)).toThrow();
  });
});

describe('the state of an aggregate, which snapshots keep', () => {
  const aggregates = [
    agent,
    claims,
    credential,
    key,
    ledger,
    log,
    research,
    scratchpad,
    thread,
    user,
    workspace,
  ] as Aggregate<unknown, DomainEvent>[]; // Each is given its own events only.

  it('comes of one of these', () => {
    const known = aggregates.flatMap(({ evolve: steps }) => Object.keys(steps));
    expect(known.sort()).toEqual(Object.keys(eventSchemas).sort());
  });

  it.each(aggregates.map((one) => [one.category, one] as const))('%s contains no personal text', (_, aggregate) => {
    const states = [aggregate.initial];
    for (const [type, data] of [...Object.entries(samples), ...furtherSamples]) {
      const schema = eventSchemas[type];
      if (!schema || !(type in aggregate.evolve)) continue;
      const personal = Object.fromEntries([...personalFields(schema).keys()].map((field) => [field, 'very personal']));
      const event = { type, data: { ...data, ...personal }, id, revision: 0, at: metadata.at };
      states.push(...states.map((state) => evolve(aggregate, state, event)));
    }
    expect(JSON.stringify(states)).not.toContain('very personal');
  });
});
