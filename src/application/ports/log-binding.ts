import type { EventStore } from './event-store.js';

/** The event log as a whole, whatever is in it. */
export interface LogProbe extends Pick<EventStore, 'append' | 'readStream'> {
  /** Position of the last event, the store's own events included; -1n when there is none. */
  endPosition(): Promise<bigint>;
}

/** The log that a backend's data belongs to, and the highest position of it that the backend has seen; -1n: none yet. */
export interface BoundLog {
  readonly logId: string | undefined;
  readonly position: bigint;
}

/** Keeps, in one backend, which event log its data belongs to. */
export interface LogBinding {
  readonly backend: 'postgres' | 'redis';
  /** Fails when: the backend is away → BackendUnavailable. */
  read(): Promise<BoundLog>;
  /** Binds the backend to a log, or notes that the log it is bound to reached `position`. A lower position changes nothing. */
  note(logId: string, position: bigint): Promise<void>;
  /** Binds the backend to a log whatever it was bound to, and forgets what only that log could prove. */
  adopt(logId: string, position: bigint): Promise<void>;
}
