import { setTimeout as pause } from 'node:timers/promises';

/** Waits for a state: asks again until there is an answer. Fails with what it waited for after `withinMs`. */
export async function until<Value>(ask: () => Promise<Value | undefined>, withinMs = 20_000): Promise<Value> {
  const end = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > end) throw new Error(`Waited ${withinMs} ms in vain for: ${ask.toString()}`);
    await pause(20);
  }
}
