import { Palimpsest, PalimpsestError, type Answer, type ErrorCode } from 'palimpsest/sdk';

/** A program of somebody who uses the SDK. It is compiled, against its sources and against what is shipped, and never run. */
export async function program(client: Palimpsest): Promise<void> {
  const thread = await client.threads.create();
  const scratchpad = await client.scratchpads.create({ threadId: thread.id });
  is<string>(scratchpad.id);
  is<number>(scratchpad.contentRevision);

  const content = await client.scratchpads.content.set(scratchpad.id, 'Plan.', { ifMatch: 7 });
  is<true | undefined>(content.lost);
  // @ts-expect-error The text stands alone.
  void client.scratchpads.content.set(scratchpad.id, { content: 'Plan.' });

  const appended = client.scratchpads.entries.append(scratchpad.id, { kind: 'claim', content: 'x', fields: { a: 1 } });
  is<Answer<{ index: number; kind: string }>>(await appended.withMeta());
  // @ts-expect-error There is no such kind.
  void client.scratchpads.entries.append(scratchpad.id, { kind: 'rumour', content: 'x' });
  // @ts-expect-error An entry has content.
  void client.scratchpads.entries.append(scratchpad.id, { kind: 'note' });
  // @ts-expect-error Whose it is comes from the key alone.
  void client.scratchpads.create({ threadId: thread.id, ownerId: 'user_1' });
  // @ts-expect-error A read has no idempotency key.
  void client.scratchpads.get(scratchpad.id, { idempotencyKey: 'x' });

  for await (const { content: words, author } of client.scratchpads.entries.list(scratchpad.id, { limit: 5 })) {
    is<string>(words);
    is<{ type: string; id: string }>(author);
  }
  for await (const reported of client.scratchpads.events(scratchpad.id, { lastEventId: '0' })) {
    if (reported.event === 'scratchpad.content_set') is<number>(reported.data.revision);
    // @ts-expect-error There is no such event.
    if (reported.event === 'scratchpad.burnt') return;
  }
  for await (const { position, hash } of client.audit.export()) is<string>(position + hash);

  await client.agents.enroll({
    harness: 'native',
    name: 'Scout',
    model: 'm',
    provider: 'anthropic',
    credential: { mode: 'intake', type: 'api_key', value: 'sk' },
  });
  is<boolean>((await client.workspaces.members.remove('ws_1', 'user_1')).removed);
  is<string>((await client.tools.readScratchpad({ scratchpad: scratchpad.id })).text);
  is<string | undefined>((await client.keys.createKey({ name: 'k', padRole: 'worker' })).key);
  is<string | null>((await client.threads.createThread({ title: null })).title);
}

export const codeOf = (fault: unknown): ErrorCode | undefined =>
  fault instanceof PalimpsestError ? fault.code : undefined;

export const client = new Palimpsest({ url: 'http://127.0.0.1:4700', apiKey: 'plm_key', retries: 5 });
// @ts-expect-error A client acts with a key.
export const nobody = new Palimpsest({ url: 'http://127.0.0.1:4700' });

// @ts-expect-error There is no such operation.
export type Burn = Palimpsest['scratchpads']['burn'];

const is = <Type>(value: Type): Type => value;
