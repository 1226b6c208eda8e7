import type { RequestHandler } from 'express';

/** What a door serves. */
export interface MountedDoor {
  /** Operations on the hot path. They come before everything else and set security headers of their own. */
  readonly operations?: RequestHandler;
  /** Everything else of the door. It comes after the common security headers. */
  readonly others?: RequestHandler;
}

/** One way in over HTTP. `ending` is aborted when the process ends: answers without an end of their own end then. */
export type Door = (ending: AbortSignal) => MountedDoor;
