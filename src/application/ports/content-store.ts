import type { PadRef } from './pad-keys.js';

export interface PadContent {
  /** 0 until content was first set. */
  readonly revision: number;
  readonly content: string;
  /** RFC 3339. */
  readonly at: string;
}

/**
 * The content of a pad: one text, and texts staged for a revision that is not committed yet.
 * Invariant: a staged text is never read before it is promoted. Fails when: the outcome is not known → BackendUnavailable.
 */
export interface ContentStore {
  /** Undefined when the pad is absent. */
  read(pad: PadRef): Promise<PadContent | undefined>;
  /** Stages a text for the content event `eventId`; false when the pad is absent. */
  stage(pad: PadRef, revision: number, eventId: string, content: string): Promise<boolean>;
  /**
   * Makes a staged text the content, unless a later revision already is. False when neither is: the staged text is gone,
   * or the pad is.
   */
  promote(pad: PadRef, revision: number, eventId: string, at: string): Promise<boolean>;
  /** Drops a staged text whose event was not appended. */
  unstage(pad: PadRef, revision: number, eventId: string): Promise<void>;
}
