import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

/** What the tour drives: a server and the administrator's key; how many Redis keys hold a scratchpad, where that can be seen. */
export interface TourStage {
  readonly url: string;
  readonly adminKey: string;
  readonly redisKeys?: (scratchpadId: string) => Promise<number>;
  readonly print: (line: string) => void;
}

interface Answer {
  readonly status: number;
  readonly body: { readonly data?: Record<string, unknown>; readonly error?: { readonly code: string } } & Record<
    string,
    unknown
  >;
}

/** Plays the whole story over REST and prints each step. Throws TourFailed when the server does not do what it should. */
export async function tour({ url, adminKey, redisKeys, print }: TourStage): Promise<void> {
  const correlationId = randomUUID();
  const call = async (key: string, method: string, path: string, body?: unknown): Promise<Answer> => {
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          'x-correlation-id': correlationId,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Answer['body'] }; // every answer is an envelope
    } catch {
      throw new TourFailed(`the server at ${url} did not answer ${method} ${path}: does it still run?`);
    }
  };
  const done = async (key: string, method: string, path: string, body?: unknown) => {
    const answer = await call(key, method, path, body);
    if (answer.body.data === undefined)
      throw new TourFailed(`${method} ${path} answered ${answer.status} ${answer.body.error?.code ?? ''}`);
    return answer.body.data;
  };
  let number = 0;
  const step = (line: string) => print(`${String((number += 1)).padStart(2)}. ${line}`);
  const show = (value: unknown) => print(`    ${String(value).replaceAll('\n', '\n    ')}`);

  const ada = await done(adminKey, 'POST', '/v1/users', { name: 'Ada' });
  const supervisor = text(ada, 'key', 'key');
  step(`The administrator makes a user, with a workspace and a first key: ${text(ada, 'user', 'id')}`);

  const thread = await done(supervisor, 'POST', '/v1/threads', { title: 'Where do whales sleep?' });
  step(`Ada opens a thread: ${text(thread, 'id')}`);
  const pad = await done(supervisor, 'POST', '/v1/scratchpads', { threadId: text(thread, 'id') });
  const scratchpadId = text(pad, 'id');
  const path = `/v1/scratchpads/${scratchpadId}`;
  step(`…and its one scratchpad: ${scratchpadId}`);

  const content = await done(supervisor, 'PUT', `${path}/content`, {
    content: 'Plan: ask eight sources, then compare.',
  });
  step(`The supervisor sets the content, now at revision r${String(content['revision'])}.`);

  const workers = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      done(supervisor, 'POST', '/v1/keys', {
        name: `worker ${n + 1}`,
        scopes: ['scratchpads:read', 'scratchpads:write'],
      }),
    ),
  );
  step('Eight workers get a key each, for scratchpads only.');
  await Promise.all(
    workers.map((worker, n) =>
      done(text(worker, 'key'), 'POST', `${path}/entries`, { content: `Worker ${n + 1} found something.` }),
    ),
  );
  step('They append at the same time.');
  const listed = await call(supervisor, 'GET', `${path}/entries?limit=100`);
  const entries = Array.isArray(listed.body.data) ? (listed.body.data as readonly Record<string, unknown>[]) : [];
  if (entries.length !== 8) throw new TourFailed(`8 entries were appended, ${entries.length} are listed`);
  step(`The ledger holds ${entries.length} entries, in one order. As one text:`);
  show((await done(supervisor, 'GET', `${path}/view`))['text']);

  const eve = await done(adminKey, 'POST', '/v1/users', { name: 'Eve' });
  const refused = await call(text(eve, 'key', 'key'), 'GET', `${path}/view`);
  if (refused.body.error?.code !== 'not_found') throw new TourFailed(`another tenant met ${refused.status}`);
  step(`Another tenant tries to read it and meets ${refused.status} ${refused.body.error.code}.`);

  const audit = await call(supervisor, 'GET', `/v1/audit/events?order=asc&limit=100`);
  const events = Array.isArray(audit.body.data) ? (audit.body.data as readonly Record<string, unknown>[]) : [];
  step(`The audit stream of Ada's tenant has ${events.length} events; of the scratchpad:`);
  for (const event of events.filter(({ stream }) => String(stream).endsWith(scratchpadId)).slice(0, 12)) {
    show(
      `${String(event['position']).padStart(12)}  ${String(event['type']).padEnd(26)} by ${JSON.stringify(event['actor'])}`,
    );
  }

  await done(supervisor, 'DELETE', path);
  const gone = await call(supervisor, 'GET', `${path}/view`);
  if (gone.body.error?.code !== 'not_found') throw new TourFailed('the deleted scratchpad still answers');
  step('Ada deletes the scratchpad; it answers not_found to her too.');
  if (redisKeys) {
    const left = await emptied(() => redisKeys(scratchpadId));
    if (left !== 0) throw new TourFailed(`${left} keys of the deleted scratchpad are left in Redis`);
    step('Redis holds nothing of it: 0 keys.');
  }
  print(`\nEverything above happened under one correlation id, ${correlationId}:`);
  print(`    curl -s -H "Authorization: Bearer $ADMIN_KEY" "${url}/v1/audit/events?correlationId=${correlationId}"`);
}

/** The story did not go as it should. */
export class TourFailed extends Error {}

function text(data: Readonly<Record<string, unknown>>, ...path: readonly string[]): string {
  const value = path.reduce<unknown>(
    (part, name) => (typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[name] : undefined),
    data,
  );
  if (typeof value !== 'string') throw new TourFailed(`an answer has no ${path.join('.')}`);
  return value;
}

/** Purges run in the background too; what is left is asked for until it is nothing, for two seconds at most. */
async function emptied(count: () => Promise<number>): Promise<number> {
  for (let tries = 20; ; tries -= 1) {
    const left = await count();
    if (left === 0 || tries === 0) return left;
    await pause(100);
  }
}
