import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from './random.js';

/** Faults by name; each is over, and what it broke mended, when it resolves. */
export type Faults = Readonly<Record<string, () => Promise<void> | void>>;

export interface Storm {
  /** Lets the round under way come to its end, and answers how often each fault was made. */
  end(): Promise<ReadonlyMap<string, number>>;
}

/** Makes faults in rounds, with short pauses: in each round every fault once, in an order of chance. */
export function startStorm(random: Random, faults: Faults, pauseMs: readonly [number, number]): Storm {
  const made = new Map<string, number>();
  let ending = false;
  const isEnding = () => ending; // Asked after a wait, when it may have changed.
  const blow = async () => {
    while (!isEnding()) {
      for (const [name, fault] of shuffled(Object.entries(faults), random)) {
        await pause(random.between(...pauseMs));
        await fault();
        made.set(name, (made.get(name) ?? 0) + 1);
      }
    }
    return made;
  };
  const blowing = blow();
  blowing.catch(() => undefined); // Reported by `end`.
  return {
    end() {
      ending = true;
      return blowing;
    },
  };
}

function shuffled<Value>(values: readonly Value[], random: Random): Value[] {
  return values
    .map((value) => ({ value, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
}
