import type { Caller } from './caller.js';

export interface Person {
  readonly id: string;
  readonly caller: Caller;
}

/** A new user, calling with their first key. */
export async function newPerson(admin: Caller, name: string): Promise<Person> {
  const made = await admin.done<{ user: { id: string }; key: { key: string } }>('POST', '/v1/users', { name });
  return { id: made.user.id, caller: admin.as(made.key.key) };
}

export interface Pad {
  readonly id: string;
  readonly threadId: string;
}

export async function newThread(caller: Caller, title = 'Plan'): Promise<string> {
  return (await caller.done<{ id: string }>('POST', '/v1/threads', { title })).id;
}

/** A thread and its scratchpad. */
export async function newPad(caller: Caller, title = 'Plan'): Promise<Pad> {
  const threadId = await newThread(caller, title);
  const { id } = await caller.done<{ id: string }>('POST', '/v1/scratchpads', { threadId });
  return { id, threadId };
}
