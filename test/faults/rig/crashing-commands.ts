import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { derivedId } from '../../../src/application/kernel/ids.js';
import { agentIdOf } from '../../../src/application/enrollment/fence.js';
import type { EventStore } from '../../../src/application/ports/event-store.js';
import type { Answer, Call, Caller } from './caller.js';
import { audited, auditedEntries, listed } from './ledger.js';
import { newPad, newPerson, newThread, type Pad, type Person } from './people.js';

/** What the checks look at. All of it is reached without the process that died. */
export interface Sight {
  readonly admin: Caller;
  readonly redis: Redis;
  /** The streams themselves, which no read model lags behind. */
  readonly log: Pick<EventStore, 'readStream'>;
  /** How many sealed versions of an owner's the vault has in use. */
  readonly inUse: (ownerId: string) => Promise<number>;
}

/** A command about to be sent, and how to tell what became of it. */
export interface Prepared {
  readonly by: Caller;
  readonly call: Call;
  /** Where it has to be one that was chosen before. */
  readonly idempotencyKey?: string;
  /** What does not hold: of a command that has not happened, or has happened whole; nothing between is right. */
  faults(happened: boolean): Promise<readonly string[]>;
  /** Whether the command's commit is stored. */
  happened(): Promise<boolean>;
  /** What is wrong with the answer to the retry of a command that was committed already. */
  answer?(answer: Answer): readonly string[];
}

export interface CrashingCommand {
  readonly name: string;
  /** Crash points that the design names: a run that does not come by them is no good. */
  readonly designed: readonly string[];
  prepare(sight: Sight): Promise<Prepared>;
}

const keysOf = async (redis: Redis, scratchpadId: string): Promise<readonly string[]> =>
  (await redis.keys(`scratchpad:*:${scratchpadId}:*`)).map((key) => key.split(':').slice(3).join(':')).sort();

/** `what` is not so. */
const unless = (isSo: boolean, what: string): string[] => (isSo ? [] : [what]);

async function person({ admin }: Sight): Promise<Person> {
  return newPerson(admin, 'Ada');
}

/** A pad with content at r1 and three entries. */
async function written(caller: Caller): Promise<Pad> {
  const pad = await newPad(caller);
  await caller.done('PUT', `/v1/scratchpads/${pad.id}/content`, { content: 'the plan' });
  for (const content of ['one', 'two', 'three'])
    await caller.done('POST', `/v1/scratchpads/${pad.id}/entries`, { content });
  return pad;
}

async function contentFaults(caller: Caller, { redis }: Sight, pad: Pad, content: string, revision: number) {
  const { data } = await caller.get(`/v1/scratchpads/${pad.id}/content`);
  const stored = data as { content?: string; revision?: number } | undefined;
  const owner = (await redis.keys(`scratchpad:*:${pad.id}:content`))[0] ?? '';
  const staged = (await redis.hkeys(owner)).filter((field) => field.startsWith('staged:'));
  return [
    ...unless(stored?.content === content, `content reads ${String(stored?.content)}`),
    ...unless(stored?.revision === revision, `content is at r${String(stored?.revision)}`),
    ...unless(staged.length === 0, `${staged.length} staged texts are left`),
  ];
}

async function entriesFaults(caller: Caller, { redis }: Sight, pad: Pad, contents: readonly string[]) {
  const entries = await listed(caller, pad.id);
  const keys = await keysOf(redis, pad.id);
  return [
    ...unless(entries.map(({ content }) => content).join() === contents.join(), `${entries.length} entries are listed`),
    ...unless(keys.join() === 'content,entries', `keys are ${keys.join()}`),
  ];
}

const gone = async (caller: Caller, { redis }: Sight, pad: Pad): Promise<string[]> => [
  ...unless((await caller.get(`/v1/scratchpads/${pad.id}/entries`)).status === 404, 'a deleted pad is listed'),
  ...unless((await caller.get(`/v1/scratchpads/${pad.id}`)).status === 404, 'a deleted pad is shown'),
  ...unless((await keysOf(redis, pad.id)).length === 0, 'keys of a deleted pad are left'),
];

const alive = async (caller: Caller, sight: Sight, pad: Pad): Promise<string[]> => [
  ...(await contentFaults(caller, sight, pad, 'the plan', 1)),
  ...(await entriesFaults(caller, sight, pad, ['one', 'two', 'three'])),
];

const enrollment = {
  harness: 'native',
  name: 'Researcher',
  persona: null,
  model: 'anthropic/m',
  provider: 'anthropic',
  credential: { mode: 'intake', type: 'api_key', value: 'sk-1' },
};
const offlineAgent = { ...enrollment, harness: 'offline' };
const enrolling = { method: 'POST', path: '/v1/agents/enroll', body: enrollment };

/** Versions that are still staged are nobody's yet: the reaper takes them after its minute. */
async function agentFaults({ caller, id }: Person, sight: Sight, agentId: string, count: 0 | 1): Promise<string[]> {
  const events = (await sight.log.readStream(`agent-${agentId}`)).filter(({ type }) => type === 'agent.enrolled');
  const { status } = await caller.get(`/v1/agents/${agentId}/enrollment`);
  const { data } = await caller.get('/v1/credentials');
  return [
    ...unless(events.length === count, `it was enrolled ${events.length} times`),
    ...unless(status === (count === 1 ? 200 : 404), `its enrollment answers ${status}`),
    ...unless(Array.isArray(data) && data.length === count, `credentials are ${JSON.stringify(data)}`),
    ...unless((await sight.inUse(id)) === count, 'another number of sealed versions is in use'),
  ];
}

const answersAgain = ({ data, body }: Answer, agentId: string): string[] => [
  ...unless((data as { agent: { id: string } }).agent.id === agentId, 'the retry answers another agent'),
  ...unless(body['replayed'] === true, 'the retry says nothing of having happened before'),
];

const has = async ({ log }: Sight, stream: string, type: string): Promise<boolean> =>
  (await log.readStream(stream)).some((event) => event.type === type);

export const crashingCommands: readonly CrashingCommand[] = [
  {
    name: 'scratchpad.create',
    designed: [
      'after:eventStore.append(thread.scratchpad_attached)',
      'after:eventStore.append(scratchpad.created)',
      'after:padKeys.create',
    ],
    async prepare(sight) {
      const { caller } = await person(sight);
      const threadId = await newThread(caller);
      const slot = async () =>
        ((await caller.get(`/v1/threads/${threadId}`)).data as { scratchpadId: string | null }).scratchpadId;
      return {
        by: caller,
        call: { method: 'POST', path: '/v1/scratchpads', body: { threadId } },
        happened: () => has(sight, `thread-${threadId}`, 'thread.scratchpad_attached'),
        async faults(happened) {
          const id = await slot();
          if (!happened || id === null) return unless(!happened && id === null, `the slot holds ${String(id)}`);
          const events = await audited(caller, `scratchpad-${id}`);
          return [
            ...unless((await caller.get(`/v1/scratchpads/${id}`)).status === 200, 'the pad is not shown'),
            ...unless(events.filter(({ type }) => type === 'scratchpad.created').length === 1, 'it was not made once'),
            ...(await entriesFaults(caller, sight, { id, threadId }, [])),
          ];
        },
      };
    },
  },
  {
    name: 'scratchpad.entry.append',
    designed: ['after:ledgerStore.append', 'after:eventStore.append(scratchpad.entry_appended)'],
    async prepare(sight) {
      const { caller } = await person(sight);
      const pad = await written(caller);
      const isThere = async () => (await listed(caller, pad.id)).some(({ content }) => content === 'four');
      return {
        by: caller,
        call: { method: 'POST', path: `/v1/scratchpads/${pad.id}/entries`, body: { content: 'four' } },
        happened: isThere,
        async faults(happened) {
          const [entries, reported] = [await listed(caller, pad.id), await auditedEntries(caller, pad.id)];
          return [
            ...(await entriesFaults(caller, sight, pad, ['one', 'two', 'three', ...(happened ? ['four'] : [])])),
            ...unless(entries.map(({ id }) => id).join() === reported.join(), `${reported.length} entries are audited`),
          ];
        },
        answer: ({ data }) => unless((data as { index: number }).index === 4, 'the retry answers another index'),
      };
    },
  },
  {
    name: 'scratchpad.content.set',
    designed: [
      'after:contentStore.stage',
      'after:eventStore.append(scratchpad.content_set)',
      'after:contentStore.promote',
    ],
    async prepare(sight) {
      const { caller } = await person(sight);
      const pad = await written(caller);
      return {
        by: caller,
        call: { method: 'PUT', path: `/v1/scratchpads/${pad.id}/content`, body: { content: 'the new plan' } },
        happened: async () =>
          (await sight.log.readStream(`scratchpad-${pad.id}`)).some(({ data }) => data['revision'] === 2),
        faults: (happened) =>
          contentFaults(caller, sight, pad, happened ? 'the new plan' : 'the plan', happened ? 2 : 1),
        answer: ({ data }) =>
          unless((data as { revision: number }).revision === 2, 'the retry answers another revision'),
      };
    },
  },
  {
    name: 'scratchpad.content.clear',
    designed: [
      'after:contentStore.stage',
      'after:eventStore.append(scratchpad.content_cleared)',
      'after:contentStore.promote',
    ],
    async prepare(sight) {
      const { caller } = await person(sight);
      const pad = await written(caller);
      return {
        by: caller,
        call: { method: 'DELETE', path: `/v1/scratchpads/${pad.id}/content` },
        happened: () => has(sight, `scratchpad-${pad.id}`, 'scratchpad.content_cleared'),
        faults: (happened) => contentFaults(caller, sight, pad, happened ? '' : 'the plan', happened ? 2 : 1),
      };
    },
  },
  {
    name: 'scratchpad.entry.clear',
    designed: [
      'after:ledgerStore.clear',
      'after:eventStore.append(scratchpad.entries_cleared)',
      'after:ledgerStore.dropCleared',
    ],
    async prepare(sight) {
      const { caller } = await person(sight);
      const pad = await written(caller);
      return {
        by: caller,
        call: { method: 'DELETE', path: `/v1/scratchpads/${pad.id}/entries` },
        happened: async () => (await listed(caller, pad.id)).length === 0,
        async faults(happened) {
          const reported = (await audited(caller, `scratchpad_ledger-${pad.id}`)).filter(
            ({ type }) => type === 'scratchpad.entries_cleared',
          );
          const counts = reported.map(({ data }) => Number(data['count'])).join();
          return [
            ...(await entriesFaults(caller, sight, pad, happened ? [] : ['one', 'two', 'three'])),
            ...unless(counts === (happened ? '3' : ''), `clears are reported with counts ${counts}`),
          ];
        },
        answer: ({ data }) => unless((data as { count: number }).count === 3, 'the retry answers another count'),
      };
    },
  },
  {
    name: 'scratchpad.clear',
    designed: [
      'after:eventStore.append(scratchpad.content_cleared)',
      'after:eventStore.append(scratchpad.entries_cleared)',
    ],
    async prepare(sight) {
      const { caller } = await person(sight);
      const pad = await written(caller);
      return {
        by: caller,
        call: { method: 'POST', path: `/v1/scratchpads/${pad.id}/clear` },
        happened: async () => (await listed(caller, pad.id)).length === 0,
        // Content first, then entries: two commits, each whole. Content may be cleared alone until the retry.
        faults: async (happened) =>
          happened
            ? [...(await contentFaults(caller, sight, pad, '', 2)), ...(await entriesFaults(caller, sight, pad, []))]
            : entriesFaults(caller, sight, pad, ['one', 'two', 'three']),
      };
    },
  },
  {
    name: 'scratchpad.delete',
    designed: [
      'after:eventStore.append(thread.scratchpad_detached)',
      'after:eventStore.append(scratchpad.deleted)',
      'after:padKeys.destroy',
    ],
    async prepare(sight) {
      const { caller } = await person(sight);
      const pad = await written(caller);
      return {
        by: caller,
        call: { method: 'DELETE', path: `/v1/scratchpads/${pad.id}` },
        happened: () => has(sight, `thread-${pad.threadId}`, 'thread.scratchpad_detached'),
        faults: (happened) => (happened ? gone(caller, sight, pad) : alive(caller, sight, pad)),
      };
    },
  },
  {
    name: 'thread.delete',
    designed: [
      'after:eventStore.append(thread.deleted)',
      'after:eventStore.append(scratchpad.deleted)',
      'after:padKeys.destroy',
    ],
    async prepare(sight) {
      const { caller } = await person(sight);
      const pad = await written(caller);
      return {
        by: caller,
        call: { method: 'DELETE', path: `/v1/threads/${pad.threadId}` },
        happened: () => has(sight, `thread-${pad.threadId}`, 'thread.deleted'),
        faults: (happened) => (happened ? gone(caller, sight, pad) : alive(caller, sight, pad)),
      };
    },
  },
  {
    name: 'user.erase',
    designed: [
      'after:eventStore.append(key.revoked)',
      'after:eventStore.append(user.erased)',
      'after:eventStore.append(thread.deleted)',
      'after:eventStore.append(scratchpad.deleted)',
      'after:padKeys.destroy',
      'after:credentialVault.destroyOwner',
      'after:personalDataKeys.destroy',
    ],
    async prepare(sight) {
      const { admin, redis } = sight;
      const { caller, id } = await person(sight);
      const pad = await written(caller);
      const events = async () => (await admin.get(`/v1/audit/export?tenant=${id}`)).text;
      return {
        by: admin,
        call: { method: 'DELETE', path: `/v1/users/${id}` },
        happened: () => has(sight, `user-${id}`, 'user.erased'),
        async faults(happened) {
          // Keys are revoked before the commit, so a user that lives may have lost them; nothing else.
          if (!happened) return unless((await keysOf(redis, pad.id)).length === 2, 'a living user lost a pad');
          const reported = await events();
          return [
            ...unless((await admin.get(`/v1/users/${id}`)).status === 404, 'an erased user is shown'),
            ...unless((await caller.get('/v1/me')).status === 401, 'a key of an erased user opens'),
            ...unless((await redis.keys(`scratchpad:${id}:*`)).length === 0, 'keys of an erased user are left'),
            ...unless(reported.includes('"thread.deleted"'), 'a thread of an erased user lives'),
            ...unless(reported.includes('"scratchpad.deleted"'), 'a pad of an erased user lives'),
            ...unless(!reported.includes('Ada'), 'the name can be read'),
          ];
        },
      };
    },
  },
  {
    name: 'agent.enroll',
    designed: ['after:credentialVault.stage', 'after:eventStore.append(agent.enrolled)'],
    async prepare(sight) {
      const owner = await person(sight);
      const idempotencyKey = randomUUID();
      const agentId = agentIdOf(idempotencyKey, 0);
      return {
        by: owner.caller,
        call: enrolling,
        idempotencyKey,
        happened: () => has(sight, `agent-${agentId}`, 'agent.enrolled'),
        faults: (happened) => agentFaults(owner, sight, agentId, happened ? 1 : 0),
        answer: (answer) => answersAgain(answer, agentId),
      };
    },
  },
  {
    name: 'research.start',
    designed: [
      'after:eventStore.append(thread.scratchpad_attached)',
      'after:eventStore.append(scratchpad.created)',
      'after:padKeys.create',
      'after:eventStore.append(research.started)',
    ],
    async prepare(sight) {
      const { caller, id } = await person(sight);
      const enrolled = await caller.done<{ agent: { id: string } }>('POST', enrolling.path, offlineAgent);
      const [threadId, idempotencyKey] = [await newThread(caller), randomUUID()];
      const researchId = derivedId('research', id, 'research.start', idempotencyKey, '');
      const body = { threadId, question: 'Why whales?', supervisorAgentId: enrolled.agent.id };
      return {
        by: caller,
        call: { method: 'POST', path: '/v1/research', body },
        idempotencyKey,
        happened: () => has(sight, `research-${researchId}`, 'research.started'),
        async faults(happened) {
          const types = (await sight.log.readStream(`research-${researchId}`)).map(({ type }) => type);
          const begun = (await audited(caller, `thread-${threadId}`)).filter(
            ({ type }) => type === 'thread.research_begun',
          );
          return [
            ...unless(
              types.filter((type) => type === 'research.started').length === (happened ? 1 : 0),
              'not begun once',
            ),
            ...unless(begun.length <= 1, `its thread tells of it ${begun.length} times`),
            ...unless(
              (types.at(-1) === 'research.completed') === happened,
              `the last of it is ${String(types.at(-1))}`,
            ),
            ...unless(types.filter((type) => type === 'research.completed').length <= 1, 'it ended twice'),
          ];
        },
        answer: ({ data }) => unless((data as { id: string }).id === researchId, 'the retry answers another run'),
      };
    },
  },
  {
    name: 'agent.enroll, answered again',
    // Asked first whether it is the first, the vault seals nothing; what follows is the append.
    designed: ['after:credentialVault.stage', 'after:eventStore.append(agent.enrollment_replayed)'],
    async prepare(sight) {
      const owner = await person(sight);
      const idempotencyKey = randomUUID();
      const agentId = agentIdOf(idempotencyKey, 0);
      await owner.caller.surely(enrolling, { idempotencyKey });
      return {
        by: owner.caller,
        call: enrolling,
        idempotencyKey,
        happened: () => has(sight, `agent-${agentId}`, 'agent.enrollment_replayed'),
        async faults(happened) {
          const isNoted = await has(sight, `agent-${agentId}`, 'agent.enrollment_replayed');
          return [
            ...(await agentFaults(owner, sight, agentId, 1)),
            ...unless(
              isNoted === happened,
              happened ? 'the replay is not noted' : 'a replay is noted that was not answered',
            ),
          ];
        },
        answer: (answer) => answersAgain(answer, agentId),
      };
    },
  },
];
