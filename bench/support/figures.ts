export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? NaN;

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;

export const p50 = (values: readonly number[]): number => percentile(values, 0.5);
export const p99 = (values: readonly number[]): number => percentile(values, 0.99);

/** One line of a report: what, the figure, the bar it is held to. */
export function figure(what: string, value: string, bar?: string): void {
  console.log(`${what.padEnd(58)} ${value.padStart(24)}${bar === undefined ? '' : `   (bar: ${bar})`}`);
}
