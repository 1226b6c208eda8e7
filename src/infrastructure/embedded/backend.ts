import { setTimeout as pause } from 'node:timers/promises';
import { lastLogLine, logFile, type Home } from './home.js';
import type { Keeper, Kept } from './kept.js';
import type { Place } from './place.js';
import { StartupError } from '../startup-error.js';

/** A backend that serves and is watched: should it end by itself, it is started again at the same address. */
export interface Backend {
  readonly url: string;
  stop(): Promise<void>;
}

export interface BackendNeeds {
  readonly home: Home;
  readonly place: Place;
  readonly keeper: Keeper;
  readonly log: (line: string) => void;
  /** Reported once when a backend ended and could not be brought back. */
  readonly onLost: (error: StartupError) => void;
}

interface Readiness {
  readonly name: string;
  readonly home: Home;
  readonly kept: Kept;
  /** Answers whether it serves; a StartupError it throws ends the wait. */
  readonly serves: () => Promise<boolean>;
}

const startTimeoutMs = 120_000; // Recovery after a crash replays the log, and that may take a while.

/** Waits until the program serves. When it ends instead, the error quotes the last line of its log. */
export async function untilServing({ name, home, kept, serves }: Readiness): Promise<Kept> {
  const log = logFile(home, name);
  let how: string | undefined;
  void kept.ended.then((words) => (how = words));
  for (const deadline = Date.now() + startTimeoutMs; Date.now() < deadline; await pause(10)) {
    if (how !== undefined)
      throw new StartupError(`${name} did not start (${how}): ${lastLogLine(home, name)} [${log}]`);
    if (await serves()) return kept;
  }
  await kept.stop();
  throw new StartupError(`${name} did not start within ${startTimeoutMs / 1000} s, see ${log}.`);
}
