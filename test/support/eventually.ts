/** Waits for a state; fails when it does not come about in time. */
export async function eventually<Value>(
  look: () => Promise<Value> | Value,
  isThere: (value: Value) => boolean,
  withinMs = 20_000,
): Promise<Value> {
  const end = performance.now() + withinMs;
  for (;;) {
    const value = await look();
    if (isThere(value)) return value;
    if (performance.now() > end) throw new Error(`Waited in vain; last seen: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
