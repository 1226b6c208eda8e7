import { setTimeout as delay } from 'node:timers/promises';

const lookEveryMs = 10;

/** Waits for a state; fails with what it last saw when the state does not come. */
export async function eventually<Value>(
  look: () => Value | Promise<Value>,
  isThere: (value: Value) => boolean,
  withinMs = 20_000,
): Promise<Value> {
  const until = Date.now() + withinMs;
  for (;;) {
    const value = await look();
    if (isThere(value)) return value;
    if (Date.now() > until) throw new Error(`It did not come to that; last seen: ${String(value)}`);
    await delay(lookEveryMs);
  }
}
