/** Whole numbers as closed ranges, in order and apart from each other: 1 to 5 and 7 is `[[1, 5], [7, 7]]`. Plain JSON. */
export type Ranges = readonly (readonly [from: number, to: number])[];

/** The numbers with those from `from` to `to` among them. Most often they go on where the last range ends. */
export function withRange(ranges: Ranges, from: number, to = from): Ranges {
  const before = ranges.filter(([, end]) => end < from - 1);
  const after = ranges.filter(([start]) => start > to + 1);
  const touching = ranges.slice(before.length, ranges.length - after.length);
  const joined = [Math.min(from, touching[0]?.[0] ?? from), Math.max(to, touching.at(-1)?.[1] ?? to)] as const;
  return [...before, joined, ...after];
}

export const contains = (ranges: Ranges, number: number): boolean =>
  ranges.some(([from, to]) => from <= number && number <= to);

export const highest = (ranges: Ranges): number => ranges.at(-1)?.[1] ?? 0;

export const sizeOf = (ranges: Ranges): number => ranges.reduce((size, [from, to]) => size + to - from + 1, 0);

/** The numbers from `from` to `to` (both included) that are not among the ranges. */
export function missingIn(ranges: Ranges, from: number, to: number): Ranges {
  const holes: (readonly [number, number])[] = [];
  let next = from;
  for (const [start, end] of ranges) {
    if (start > to) break;
    if (start > next) holes.push([next, start - 1]);
    next = Math.max(next, end + 1);
  }
  if (next <= to) holes.push([next, to]);
  return holes;
}

/** The numbers of `ranges` that are above `bound` and not among `others`. */
export const above = (ranges: Ranges, bound: number, others: Ranges): Ranges =>
  ranges.filter(([, to]) => to > bound).flatMap(([from, to]) => missingIn(others, Math.max(from, bound + 1), to));

/** Joins single numbers into ranges. */
export const rangesOf = (numbers: Iterable<number>): Ranges => {
  let ranges: Ranges = [];
  for (const number of numbers) ranges = withRange(ranges, number);
  return ranges;
};
