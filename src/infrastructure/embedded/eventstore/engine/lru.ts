/** A bounded map that drops the least recently used value first, unless `keep` wants it. */
export class Lru<Value> {
  private readonly values = new Map<string, Value>();

  constructor(
    private readonly limit: number,
    private readonly keep: (value: Value) => boolean,
  ) {}

  get(key: string): Value | undefined {
    const value = this.values.get(key);
    if (value === undefined) return undefined;
    this.values.delete(key);
    this.values.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.values.set(key, value);
    if (this.values.size <= this.limit) return;
    for (const [oldest, candidate] of this.values) {
      if (this.keep(candidate)) continue;
      this.values.delete(oldest);
      return;
    }
  }

  clear(): void {
    this.values.clear();
  }
}
