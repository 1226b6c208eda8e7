import type { Placed, Site } from './site.js';

/** Names of crash points in the order in which a command comes by them. */
export type CrashPoint = string;

/** A process that tells which effects its commands have. */
export async function startTracer(site: Site) {
  const program = await site.program('api', { PALIMPSEST_CRASH_AT: 'trace' });
  return {
    program,
    /** The crash points that the work comes by: before its first effect, and after every one. */
    async pointsOf(work: () => Promise<unknown>): Promise<readonly CrashPoint[]> {
      const from = program.errors.length;
      await work();
      const reported = [...program.errors.slice(from).matchAll(/^crash point (\S+)$/gm)].map(([, point = '']) => point);
      const [first, ...rest] = reported;
      const numbered = new Map<string, number>();
      return [...(first === undefined ? [] : [first]), ...rest.filter((point) => point.startsWith('after:'))].map(
        (point) => {
          const hit = (numbered.get(point) ?? 0) + 1;
          numbered.set(point, hit);
          return hit === 1 ? point : `${point}#${hit}`;
        },
      );
    },
  };
}

/** Processes that will die at these points, a few of them started ahead of their turn. */
export class Victims {
  private readonly coming: Promise<Placed>[] = [];
  private next = 0;

  constructor(
    private readonly site: Site,
    private readonly points: readonly CrashPoint[],
  ) {
    this.prepare();
    this.prepare();
  }

  /** The one for the next point. */
  async take(): Promise<Placed> {
    const victim = this.coming.shift();
    this.prepare();
    if (!victim) throw new Error('There are more crashes than crash points.');
    return victim;
  }

  private prepare(): void {
    const point = this.points[this.next++];
    if (point === undefined) return;
    const started = this.site.program('api', { PALIMPSEST_CRASH_AT: point });
    started.catch(() => undefined); // Reported to whoever takes it.
    this.coming.push(started);
  }
}
