import { randomUUID } from 'node:crypto';
import type { Fence } from '../../../src/domain/agent/events.js';
import { agentIdOf } from '../../../src/application/enrollment/fence.js';
import { reapStaged } from '../../../src/application/enrollment/reaper.js';
import { usableCredentials } from '../../../src/application/enrollment/staged-versions.js';
import { enrollAgent } from '../../../src/application/operations/agent/enroll-agent.js';
import { Overloaded, OutcomeUnknown, WrongRevision } from '../../../src/application/faults/errors.js';
import type { EventStore, NewEvent } from '../../../src/application/ports/event-store.js';
import { codesOf, withinCodes } from '../../../src/application/operation/refusal-codes.js';
import { operations } from '../../../src/application/registry.js';
import { Secret } from '../../../src/application/kernel/secret.js';
import { systemCommand } from '../../../src/application/event-sourcing/command.js';
import { OwnerStreams } from '../../../src/application/event-sourcing/owner-streams.js';
import { refuse } from '../../../src/domain/kernel/refusal.js';
import { MemoryEventStore } from '../../../src/infrastructure/memory/event-store.js';
import { dataOf, memberOf, memoryApp, refusalOf, type MemoryApp } from '../../support/memory-app.js';
import { credentialIdOf } from '../../../src/application/ports/credential-vault.js';

const request = (more: Readonly<Record<string, unknown>> = {}) => ({
  harness: 'native',
  name: 'Researcher',
  persona: 'Reads before it writes.',
  model: 'anthropic/m',
  provider: 'anthropic',
  credential: { mode: 'intake', type: 'api_key', value: 'sk-1' },
  idempotencyKey: randomUUID(),
  ...more,
});

interface Enrolled {
  readonly result: 'enrolled';
  readonly agent: { readonly id: string; readonly name: string; readonly persona: string | null };
}

const enrollAs = (app: MemoryApp, key: string, input: unknown) => app.call(key, 'agent.enroll', input);
const typesIn = async (app: MemoryApp, stream: string) => (await app.log.readStream(stream)).map(({ type }) => type);
const everyType = async (app: MemoryApp) => (await app.log.readAll(undefined, 1_000)).map(({ type }) => type);
const countOf = async (app: MemoryApp, type: string) => (await everyType(app)).filter((one) => one === type).length;

/** What the owner's agents get for the provider. */
const inUse = async (app: MemoryApp, ownerId: string) =>
  (await usableCredentials(app.store, app.vault).open(ownerId, 'anthropic'))?.reveal();

describe('an enrollment', () => {
  it('is one event, which is its fence and its commit', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const input = request();
    const { agent } = dataOf<Enrolled>(await enrollAs(app, ada.key, input));
    const [event] = await app.log.readStream(`agent-${agent.id}`);
    expect(event?.data).toMatchObject({
      agentId: agentIdOf(input.idempotencyKey, 0),
      ownerId: ada.id,
      fence: {
        operation: 'agent.enroll',
        key: input.idempotencyKey,
        principal: ada.id,
        scope: `user:${ada.id}`,
        digestForm: 1,
        replayMode: 'actor-bound',
        outcome: agent.id,
      },
    });
    expect(JSON.stringify([event?.data, event?.metadata])).not.toContain('sk-1');
    expect(await inUse(app, ada.id)).toBe('sk-1');
  });

  it('with a reference uses a credential that is there, and takes in nothing', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    await enrollAs(app, ada.key, request());
    const reply = await enrollAs(app, ada.key, request({ credential: { mode: 'reference' } }));
    expect(dataOf<Enrolled>(reply).agent).toMatchObject({ credentialMode: 'reference' });
    const latest = (await app.vault.find(ada.id, credentialIdOf(ada.id, 'anthropic')))?.latest;
    expect(await inUse(app, ada.id)).toBe('sk-1');
    expect(latest).toBeLessThan(await app.log.headPosition());
  });

  it('counts a credential whose enrollment is committed, also before it was made active', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    expect(refusalOf(await enrollAs(app, ada.key, request()))).toBe('ok');
    expect(await app.vault.has(ada.id, 'anthropic')).toBe(false);
    expect(refusalOf(await enrollAs(app, ada.key, request({ credential: { mode: 'reference' } })))).toBe('ok');
    expect(await app.vault.has(ada.id, 'anthropic')).toBe(true);
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['a harness that nobody registered', { harness: 'unheard-of' }],
    ['a provider that the harness does not take', { harness: 'codex', provider: 'anthropic' }],
    ['a reference to a credential that is not kept', { credential: { mode: 'reference' } }],
  ])('with %s cannot be done now, and leaves nothing', async (_, more) => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const before = await app.log.headPosition();
    expect(refusalOf(await enrollAs(app, ada.key, request(more)))).toBe('precondition_failed');
    expect(await app.log.headPosition()).toBe(before);
    expect(await app.vault.stagedLongerThan(-1, 10)).toEqual([]);
  });

  it('that cannot be done now can be done with the same key later', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const input = request({ credential: { mode: 'reference' } });
    expect(refusalOf(await enrollAs(app, ada.key, input))).toBe('precondition_failed');
    await enrollAs(app, ada.key, request());
    expect(refusalOf(await enrollAs(app, ada.key, input))).toBe('ok');
  });

  it('keeps the name trimmed and composed, and a missing persona as null', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const { persona: _, ...without } = request({ name: '  Ame\u0301lie ' });
    const { agent } = dataOf<Enrolled>(await enrollAs(app, ada.key, without));
    expect(agent).toMatchObject({ name: 'Am\u00e9lie', persona: null });
  });
});

describe('a second submission under the same key', () => {
  it('answers the recorded outcome, executes nothing, and is noted', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const input = request();
    const first = await enrollAs(app, ada.key, input);
    const again = await enrollAs(app, ada.key, { ...input, correlationId: randomUUID() });
    expect(dataOf(again)).toEqual(dataOf(first));
    expect(again.result).toMatchObject({ replayed: true });
    const stream = `agent-${dataOf<Enrolled>(first).agent.id}`;
    expect(await typesIn(app, stream)).toEqual(['agent.enrolled', 'agent.enrollment_replayed']);
    const [enrolled, access] = await app.log.readStream(stream);
    expect(access?.data).toMatchObject({
      principal: ada.id,
      fence: { operation: 'agent.enroll', key: input.idempotencyKey, eventId: enrolled?.id },
    });
    expect(access?.metadata).toMatchObject({ $correlationId: again.correlationId });
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['that says the same in other words', { name: ' Researcher\t' }],
    ['with another secret', { credential: { mode: 'intake', type: 'api_key', value: 'sk-2' } }],
    ['that names the replay mode', { replayMode: 'actor-bound' }],
    ['with a correlation id', { correlationId: randomUUID() }],
  ])('%s is the same request', async (_, more) => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const input = request();
    await enrollAs(app, ada.key, input);
    const stage = jest.spyOn(app.vault, 'stage');
    expect((await enrollAs(app, ada.key, { ...input, ...more })).result).toMatchObject({ replayed: true });
    // It was offered to be sealed if nobody had begun, and was not.
    for (const { value } of stage.mock.results) expect(await value).toBe(false);
    expect(await inUse(app, ada.id)).toBe('sk-1');
    expect(await app.vault.stagedLongerThan(-1, 10)).toEqual([]);
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['name', { name: 'Other' }],
    ['persona', { persona: null }],
    ['model', { model: 'anthropic/other' }],
    ['provider', { provider: 'openai' }],
    ['harness', { harness: 'offline' }],
    ['harness that is not registered', { harness: 'unheard-of' }],
    ['way to name the credential', { credential: { mode: 'reference' } }],
  ])('with another %s is a conflict', async (_, more) => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const input = request();
    await enrollAs(app, ada.key, input);
    expect(refusalOf(await enrollAs(app, ada.key, { ...input, ...more }))).toBe('conflict');
  });

  it('is the one constant conflict, whatever is wrong with it', async () => {
    const app = await memoryApp();
    const [ada, bob] = [await memberOf(app, 'Ada'), await memberOf(app, 'Bob')];
    const input = request();
    await enrollAs(app, ada.key, input);
    const replies = [
      await enrollAs(app, ada.key, { ...input, name: 'Other' }),
      await enrollAs(app, bob.key, input),
      await enrollAs(app, app.adminKey, input),
      await enrollAs(app, bob.key, { ...input, name: 'Other' }),
    ];
    expect(new Set(replies.map(({ result }) => JSON.stringify(result))).size).toBe(1);
    expect(refusalOf(replies[0] ?? { correlationId: '', result: { data: null } })).toBe('conflict');
    expect(await countOf(app, 'agent.enrollment_replayed')).toBe(0);
  });

  it.each<[string, Partial<Fence>]>([
    ['scope', { scope: 'user:another' }],
    ['replay mode', { replayMode: 'shared' }],
    ['form of the digest', { digestForm: 0 }],
  ])('is a conflict where another %s was recorded', async (_, other) => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const [input, twin] = [request(), request()];
    const { agent } = dataOf<Enrolled>(await enrollAs(app, ada.key, input));
    const [event] = await app.log.readStream(`agent-${agent.id}`);
    const recorded = event?.data as { fence: Fence }; // as agent.enrolled declares
    const agentId = agentIdOf(twin.idempotencyKey, 0);
    const command = systemCommand({ id: randomUUID(), clock: app.eventSourcing.clock });
    const { firstEvents } = new OwnerStreams(app.eventSourcing, ada.id, command);
    const fence = { ...recorded.fence, key: twin.idempotencyKey, ...other };
    const data = { ...event?.data, name: 'Researcher', persona: null, agentId, fence };
    await firstEvents.appendFirst(`agent-${agentId}`, { type: 'agent.enrolled', data, id: randomUUID() });
    expect(refusalOf(await enrollAs(app, ada.key, twin))).toBe('conflict');
  });

  it('is authorized afresh: a key that was revoked or lacks the scope is refused, not replayed', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const input = request();
    await enrollAs(app, ada.key, input);
    const narrow = dataOf<{ key: string }>(
      await app.call(ada.key, 'key.create', { name: 'narrow', scopes: ['agents:read'] }),
    );
    expect(refusalOf(await enrollAs(app, narrow.key, input))).toBe('authorization_refused');
    expect(refusalOf(await enrollAs(app, 'plm_wrong', input))).toBe('authentication_failed');
    expect(await countOf(app, 'agent.enrollment_replayed')).toBe(0);
  });

  it('is validated afresh', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const input = request();
    await enrollAs(app, ada.key, input);
    expect(refusalOf(await enrollAs(app, ada.key, { ...input, replayMode: 'shared' }))).toBe('validation_failed');
  });

  it('is not answered when it cannot be noted', async () => {
    const log = new ForgetfulEventStore();
    const app = await memoryApp({ log });
    const ada = await memberOf(app, 'Ada');
    const input = request();
    await enrollAs(app, ada.key, input);
    log.failing = ([event]) => event?.type === 'agent.enrollment_replayed';
    expect(refusalOf(await enrollAs(app, ada.key, input))).toBe('internal_fault');
    log.failing = () => false;
    expect(refusalOf(await enrollAs(app, ada.key, input))).toBe('ok');
  });

  it('at the same time waits, and is then answered what the first one did', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const input = request();
    const replies = await Promise.all(Array.from({ length: 50 }, () => enrollAs(app, ada.key, input)));
    expect(new Set(replies.map((reply) => dataOf<Enrolled>(reply).agent.id)).size).toBe(1);
    expect(replies.filter(({ result }) => 'replayed' in result).length).toBe(49);
    expect(await countOf(app, 'agent.enrolled')).toBe(1);
    expect(await inUse(app, ada.id)).toBe('sk-1');
    expect(await app.vault.stagedLongerThan(-1, 10)).toEqual([]);
  });

  it('through another process at the same time is answered what the first one did', async () => {
    const log = new MemoryEventStore();
    const one = await memoryApp({ log });
    const ada = await memberOf(one, 'Ada');
    const input = request();
    // The other process: the same log and vault, with turns, caches and keys of its own.
    let second: Promise<unknown> = Promise.resolve();
    const racing: EventStore = new Proxy(log, {
      get: (target, property: keyof EventStore) =>
        property === 'append'
          ? async (...args: Parameters<EventStore['append']>) => {
              if (args[2][0]?.type === 'agent.enrolled') second = enrollAs(one, ada.key, input);
              await second;
              return target.append(...args);
            }
          : target[property].bind(target),
    });
    const { vault } = one;
    const other = await memoryApp({ log: racing, subjects: one.subjects, vault });
    const reply = await enrollAs(other, ada.key, input);
    expect(reply.result).toMatchObject({ replayed: true });
    expect(await countOf(one, 'agent.enrolled')).toBe(1);
    expect(await inUse(one, ada.id)).toBe('sk-1');
    expect(await vault.stagedLongerThan(-1, 10)).toEqual([]);
  });
});

/** An event store that loses answers, before or after it has stored the events. */
class ForgetfulEventStore extends MemoryEventStore {
  failing: (events: readonly NewEvent[]) => boolean = () => false;
  stores = false;

  override async append(...args: Parameters<EventStore['append']>) {
    const appended = this.failing(args[2]) && !this.stores ? undefined : await super.append(...args);
    if (this.failing(args[2]) || !appended) throw new OutcomeUnknown(args[0]);
    return appended;
  }
}

describe('an enrollment whose answer was lost', () => {
  const isEnrollment = ([event]: readonly NewEvent[]) => event?.type === 'agent.enrolled';

  it('is found by its retry when it had been stored', async () => {
    const log = new ForgetfulEventStore();
    const app = await memoryApp({ log });
    const ada = await memberOf(app, 'Ada');
    const input = request();
    [log.failing, log.stores] = [isEnrollment, true];
    expect(refusalOf(await enrollAs(app, ada.key, input))).toBe('internal_fault');
    log.failing = () => false;
    expect((await enrollAs(app, ada.key, input)).result).toMatchObject({ replayed: true });
    expect(await countOf(app, 'agent.enrolled')).toBe(1);
  });

  it('is done by its retry when it had not, with the secret of the retry', async () => {
    const log = new ForgetfulEventStore();
    const app = await memoryApp({ log });
    const ada = await memberOf(app, 'Ada');
    const input = request();
    log.failing = isEnrollment;
    expect(refusalOf(await enrollAs(app, ada.key, input))).toBe('internal_fault');
    log.failing = () => false;
    const retry = { ...input, credential: { mode: 'intake', type: 'api_key', value: 'sk-2' } };
    expect((await enrollAs(app, ada.key, retry)).result).not.toHaveProperty('replayed');
    expect(await inUse(app, ada.id)).toBe('sk-2');
  });

  it('never has its sealed bytes thrown away by who does not know', async () => {
    const log = new ForgetfulEventStore();
    const app = await memoryApp({ log });
    const ada = await memberOf(app, 'Ada');
    [log.failing, log.stores] = [isEnrollment, true];
    await enrollAs(app, ada.key, request());
    expect((await app.vault.staged(ada.id, 'anthropic')).length).toBe(1);
  });
});

describe('the reaper', () => {
  const staged = (ownerId: string, agentId: string) => ({ id: randomUUID(), ownerId, provider: 'anthropic', agentId });

  it('ends an enrollment that never came to its event, and then its bytes', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const input = request();
    const version = staged(ada.id, agentIdOf(input.idempotencyKey, 0));
    await app.vault.stage(version, new Secret('sk-lost'));
    expect(await reapStaged(app, -1)).toBe(1);
    expect(await typesIn(app, `agent-${version.agentId}`)).toEqual(['agent.enrollment_abandoned']);
    expect(await app.vault.staged(ada.id, 'anthropic')).toEqual([]);
    const { agent } = dataOf<Enrolled>(await enrollAs(app, ada.key, input));
    expect(agent.id).toBe(agentIdOf(input.idempotencyKey, 1));
    expect((await enrollAs(app, ada.key, input)).result).toMatchObject({ replayed: true });
  });

  it('makes active what was committed, and drops what another run of the command staged', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const input = request();
    await enrollAs(app, ada.key, input);
    await app.vault.stage(staged(ada.id, agentIdOf(input.idempotencyKey, 0)), new Secret('sk-other'));
    expect(await reapStaged(app, -1)).toBe(2);
    expect(await inUse(app, ada.id)).toBe('sk-1');
    expect(await app.vault.staged(ada.id, 'anthropic')).toEqual([]);
    expect(await countOf(app, 'agent.enrollment_abandoned')).toBe(0);
  });

  it('leaves alone what was staged lately', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    await app.vault.stage(staged(ada.id, randomUUID()), new Secret('sk-new'));
    expect(await reapStaged(app, 60_000)).toBe(0);
    expect((await app.vault.staged(ada.id, 'anthropic')).length).toBe(1);
  });

  it('beats a sleeper who wakes later, who then runs afresh', async () => {
    const log = new MemoryEventStore();
    let asleep: () => Promise<unknown> = async () => undefined;
    const drowsy: EventStore = new Proxy(log, {
      get: (target, property: keyof EventStore) =>
        property === 'append'
          ? async (...args: Parameters<EventStore['append']>) => {
              const sleep = asleep;
              if (args[2][0]?.type === 'agent.enrolled') {
                asleep = async () => undefined;
                await sleep();
              }
              return target.append(...args);
            }
          : target[property].bind(target),
    });
    const app = await memoryApp({ log: drowsy });
    const ada = await memberOf(app, 'Ada');
    const input = request();
    asleep = () => reapStaged(app, -1);
    const { agent } = dataOf<Enrolled>(await enrollAs(app, ada.key, input));
    expect(agent.id).toBe(agentIdOf(input.idempotencyKey, 1));
    expect(await inUse(app, ada.id)).toBe('sk-1');
    expect(await app.vault.stagedLongerThan(-1, 10)).toEqual([]);
  });
});

describe('an idempotency key of an enrollment', () => {
  it.each<[string, unknown]>([
    ['that is missing', undefined],
    ['that is no uuid', 'retry-1'],
    ['that is nil', '00000000-0000-0000-0000-000000000000'],
    ['that is max', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
    ['that is made of a name', '886313e1-3b8a-5372-9b90-0c9aee199e5d'],
    ['that is made of a time', 'c232ab00-9414-11ec-b3c8-9f6bdeced846'],
    ['that only looks random', '11111111-1111-4111-8111-111111111111'],
    ['that is a number', 7],
    ['that is null', null],
  ])('%s is refused, and nothing is done', async (_, idempotencyKey) => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const before = await app.log.headPosition();
    expect(refusalOf(await enrollAs(app, ada.key, { ...request(), idempotencyKey }))).toBe('validation_failed');
    expect(await app.log.headPosition()).toBe(before);
  });

  it('may come as a header, but not as another one than in the body', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const { idempotencyKey, ...body } = request();
    const send = (input: unknown, header: string) =>
      app.call(ada.key, 'agent.enroll', input, { idempotencyKey: header });
    expect(refusalOf(await send(body, idempotencyKey))).toBe('ok');
    expect((await send({ ...body, idempotencyKey }, idempotencyKey)).result).toHaveProperty('replayed');
    expect((await send(body, idempotencyKey.toUpperCase())).result).toHaveProperty('replayed');
    expect(refusalOf(await send({ ...body, idempotencyKey }, randomUUID()))).toBe('validation_failed');
    expect(refusalOf(await send(body, `${randomUUID()}, ${randomUUID()}`))).toBe('validation_failed');
  });
});

describe('the codes of the family', () => {
  const seven = [
    'validation_failed',
    'authentication_failed',
    'authorization_refused',
    'not_found',
    'conflict',
    'precondition_failed',
    'internal_fault',
  ];
  const operationOf = (name: string) => operations.find((one) => one.name === name) ?? enrollAgent;
  const codesIn = (name: string) => [...codesOf(operationOf(name))].sort();
  const asked = { agentId: agentIdOf(randomUUID(), 0) };

  it('are the seven of its document for the command, and those that a read can have for the query', () => {
    expect(codesIn('agent.enroll')).toEqual([...seven].sort());
    const ofAQuery = seven.filter((code) => !['conflict', 'precondition_failed'].includes(code));
    expect(codesIn('agent.enrollment.get')).toEqual([...ofAQuery].sort());
  });

  it('hold for a position that the read models have not reached: the command does not ask for it, the query fails', async () => {
    const app = await memoryApp({ watermark: { waitFor: async () => false } });
    const ada = await memberOf(app, 'Ada');
    const far = { minPosition: '9000000000000000000' };
    expect(refusalOf(await app.call(ada.key, 'agent.enroll', request(), far))).toBe('ok');
    expect((await app.call(ada.key, 'agent.enrollment.get', asked, far)).result).toMatchObject({
      refused: 'internal_fault',
      retryAfterSeconds: 1,
    });
  });

  it('hold under overload, and when to try again is still said', async () => {
    const calm = await memoryApp();
    const ada = await memberOf(calm, 'Ada');
    const { log, subjects } = calm;
    const authenticate = () => Promise.reject(new Overloaded('eventstore'));
    const app = await memoryApp({ log, subjects, authenticate });
    for (const [name, input] of [['agent.enroll', request()] as const, ['agent.enrollment.get', asked] as const]) {
      const { result } = await app.call(ada.key, name, input);
      expect(result).toMatchObject({ refused: 'internal_fault', retryAfterSeconds: 1 });
    }
    expect(refusalOf(await app.call(ada.key, 'agent.list'))).toBe('unavailable');
  });

  it('hold when a step of the gateway answers unavailable, and when to try again is still said', () => {
    const refusal = refuse('unavailable', undefined, { retryAfterSeconds: 3 });
    for (const name of ['agent.enroll', 'agent.enrollment.get']) {
      const answered = withinCodes(operationOf(name), refusal);
      expect(answered).toMatchObject({ refused: 'internal_fault', retryAfterSeconds: 3 });
    }
    expect(withinCodes(operationOf('agent.list'), refusal).refused).toBe('unavailable');
  });

  it('hold when too many write at once', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    jest.spyOn(app.vault, 'stage').mockRejectedValue(new WrongRevision('agent'));
    expect(refusalOf(await enrollAs(app, ada.key, request()))).toBe('internal_fault');
  });
});

describe('a field of an enrollment', () => {
  const long = 'x'.repeat(1_048_576);
  const intake = (value: unknown) => ({ mode: 'intake', type: 'api_key', value });
  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['harness that is empty', { harness: '' }],
    ['harness that is malformed', { harness: 'Native Loop!' }],
    ['harness that is no text', { harness: 7 }],
    ['name that is empty', { name: '' }],
    ['name that is blank', { name: ' \t ' }],
    ['name that nobody sees', { name: '\u200b\u2060' }],
    ['name of 201 characters', { name: 'n'.repeat(201) }],
    ['name of a mebibyte', { name: long }],
    ['name with a NUL', { name: 'a\u0000b' }],
    ['name with half a surrogate pair', { name: 'a\ud800b' }],
    ['persona that is no text', { persona: 7 }],
    ['persona that is too long', { persona: 'p'.repeat(65_537) }],
    ['model that is empty', { model: '' }],
    ['model with white space', { model: 'a b' }],
    ['model that nobody sees', { model: '\u200b\u2060' }],
    ['model of 201 characters', { model: 'm'.repeat(201) }],
    ['model that is no text', { model: 7 }],
    ['provider that is empty', { provider: '' }],
    ['provider that is malformed', { provider: 'Anthropic, Inc.' }],
    ['provider of 65 characters', { provider: 'p'.repeat(65) }],
    ['provider that is no text', { provider: 7 }],
    ['credential that is missing', { credential: undefined }],
    ['credential of an unknown mode', { credential: { mode: 'oauth' } }],
    ['credential without a type', { credential: { mode: 'intake', value: 'sk-1' } }],
    ['credential of another type', { credential: { mode: 'intake', type: 'oauth', value: 'sk-1' } }],
    ['credential without a value', { credential: { mode: 'intake', type: 'api_key' } }],
    ['credential with an empty value', { credential: { mode: 'intake', type: 'api_key', value: '' } }],
    ['credential with a blank value', { credential: { mode: 'intake', type: 'api_key', value: '  ' } }],
    ['credential with a value that nobody sees', { credential: intake('\u200b') }],
    ['credential of 8193 characters', { credential: intake('k'.repeat(8193)) }],
    ['credential with a value that is no text', { credential: intake(7) }],
    ['credential with a line break', { credential: { mode: 'intake', type: 'api_key', value: 'sk-1\n' } }],
    ['credential in the name of its field', { credential: { mode: 'intake', type: 'api_key', 'sk-1-CANARY': 'x' } }],
    ['credential in the name of a field', { 'sk-1-CANARY': 'x' }],
    ['reference with a value', { credential: { mode: 'reference', value: 'sk-1' } }],
    ['replay mode that is shared', { replayMode: 'shared' }],
    ['replay mode that is unknown', { replayMode: 'any' }],
    ['isSystem', { isSystem: true }],
    ['is_system', { is_system: true }],
    ['ownerId', { ownerId: 'user_x' }],
    ['id', { id: randomUUID() }],
    ['correlation id that is no uuid', { correlationId: 'x' }],
    ['correlation id that is nil', { correlationId: '00000000-0000-0000-0000-000000000000' }],
    ['correlation id that is a number', { correlationId: 7 }],
    ['correlation id that is null', { correlationId: null }],
  ])('%s is refused without repeating it, and nothing is done', async (_, more) => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const before = await app.log.headPosition();
    const reply = await enrollAs(app, ada.key, { ...request(), ...more });
    expect(refusalOf(reply)).toBe('validation_failed');
    expect(JSON.stringify(reply)).not.toMatch(/sk-1|Native Loop|Anthropic, Inc|xxxx|nnnn|pppp|mmmm|kkkk/);
    expect(await app.log.headPosition()).toBe(before);
    expect(await app.vault.stagedLongerThan(-1, 10)).toEqual([]);
  });
});

describe('the most that a field of an enrollment takes', () => {
  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['a name of 200 code points', { name: '\u{1F511}'.repeat(200) }],
    ['a persona of 65536 bytes', { persona: 'é'.repeat(32_768) }],
    ['a model of 200 code points', { model: '\u{1F511}'.repeat(200) }],
    ['a provider of 64 characters', { provider: 'p'.repeat(64) }],
    ['a credential of 8192 characters', { credential: { mode: 'intake', type: 'api_key', value: 'k'.repeat(8192) } }],
  ])('is %s', async (_, more) => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    expect(refusalOf(await enrollAs(app, ada.key, request(more)))).toBe('ok');
  });
});

describe('the last credential taken in', () => {
  it('is the one in use, and deleting it takes every version', async () => {
    const app = await memoryApp();
    const ada = await memberOf(app, 'Ada');
    const intake = (value: string) => ({ credential: { mode: 'intake', type: 'api_key', value } });
    await enrollAs(app, ada.key, request(intake('sk-1')));
    await enrollAs(app, ada.key, request(intake('sk-2')));
    expect(await inUse(app, ada.id)).toBe('sk-2');
    const credentialId = credentialIdOf(ada.id, 'anthropic');
    const remove = (more = {}) => app.call(ada.key, 'credential.delete', { credentialId, ...more });
    const idempotencyKey = randomUUID();
    expect(dataOf(await remove({ idempotencyKey }))).toEqual({ id: credentialId, deleted: true });
    expect(await app.vault.open(ada.id, 'anthropic')).toBeUndefined();
    expect((await remove({ idempotencyKey })).result).toHaveProperty('replayed');
    expect(refusalOf(await remove())).toBe('ok');
    expect(refusalOf(await enrollAs(app, ada.key, request({ credential: { mode: 'reference' } })))).toBe(
      'precondition_failed',
    );
  });
});
