/**
 * A bounded map of what was used lately, in two generations: what is used moves to the young one, and when that is full
 * the old one is dropped, but for values that `keep` wants. Nothing is moved or deleted one by one.
 */
export class Lru<Value> {
  private young = new Map<string, Value>();
  private old = new Map<string, Value>();

  constructor(
    private readonly limit: number,
    private readonly keep: (value: Value) => boolean = () => false,
  ) {}

  get(key: string): Value | undefined {
    const value = this.young.get(key);
    if (value !== undefined) return value;
    const before = this.old.get(key);
    if (before !== undefined) this.set(key, before);
    return before;
  }

  set(key: string, value: Value): void {
    this.young.set(key, value);
    if (this.young.size > this.limit / 2) this.age();
  }

  clear(): void {
    this.young = new Map();
    this.old = new Map();
  }

  private age(): void {
    const dropped = this.old;
    this.old = this.young;
    this.young = new Map();
    for (const [key, value] of dropped) if (this.keep(value) && !this.old.has(key)) this.young.set(key, value);
  }
}
