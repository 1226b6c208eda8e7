import { inspect, format } from 'node:util';
import { z } from 'zod';
import { canonicalJson } from '../../../src/application/kernel/canonical-json.js';
import { describeFault } from '../../../src/application/faults/describe-fault.js';
import { enrollAgent } from '../../../src/application/operations/agent/enroll-agent.js';
import { Secret } from '../../../src/application/kernel/secret.js';

const value = 'sk-canary-0123456789';
const secret = new Secret(value);

describe('a secret', () => {
  it.each<[string, () => string]>([
    ['printed', () => String(secret)],
    ['added to text', () => ''.concat(secret as unknown as string)],
    ['as JSON', () => JSON.stringify({ secret })],
    ['inspected', () => inspect({ secret }, { depth: 9, showHidden: true, getters: true })],
    ['formatted', () => format('%s %o %O %j', secret, secret, secret, secret)],
    ['in an error', () => new Error(`bad ${secret.toString()}`, { cause: secret }).stack ?? ''],
    ['described as a fault', () => JSON.stringify(describeFault(new Error('x', { cause: secret })))],
    ['in canonical JSON', () => canonicalJson({ secret })],
    ['copied', () => JSON.stringify(Object.entries(secret)) + JSON.stringify(Object.getOwnPropertyNames(secret))],
    ['cloned', () => JSON.stringify(structuredClone({ secret }))],
  ])('%s shows nothing', (_, show) => expect(show()).not.toContain('canary'));

  it('says that it is one', () => expect(`${secret.toString()} ${JSON.stringify(secret)}`).toBe('[secret] "[secret]"'));

  it('gives its value to who asks for it by name', () => expect(secret.reveal()).toBe(value));

  it('is one from the moment an input was parsed', () => {
    const parsed = enrollAgent.input.parse({
      harness: 'native',
      name: 'Scout',
      model: 'm',
      provider: 'anthropic',
      credential: { mode: 'intake', type: 'api_key', value },
    });
    expect(inspect(parsed, { depth: 9 })).not.toContain('canary');
    expect(parsed['credential']).toMatchObject({ value: expect.any(Secret) as Secret });
  });

  it('is no part of what a failed parse says', () => {
    const bad = enrollAgent.input.safeParse({ credential: { mode: 'intake', type: 'wrong', value: `${value}\n ` } });
    expect(JSON.stringify(bad.error?.issues)).not.toContain('canary');
  });

  it('is no part of the digest of a request', () => {
    const fingerprint = enrollAgent.fingerprint?.({
      harness: 'native',
      name: 'Scout',
      persona: null,
      model: 'm',
      provider: 'anthropic',
      credential: { mode: 'intake', type: 'api_key', value: secret },
      replayMode: 'actor-bound',
    });
    expect(fingerprint).toEqual({
      harness: 'native',
      name: 'Scout',
      persona: null,
      model: 'm',
      provider: 'anthropic',
      credentialMode: 'intake',
    });
  });

  it('is described in the API document as text that is only written', () =>
    expect(JSON.stringify(z.toJSONSchema(enrollAgent.input, { io: 'input' }))).toContain('"writeOnly":true'));
});
