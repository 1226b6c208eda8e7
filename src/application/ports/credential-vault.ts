import type { Secret } from '../kernel/secret.js';

/** Names what a sealed version belongs to; all of it is authenticated with the value. */
export interface VersionRef {
  /** A uuid, fresh for each value that is taken in. */
  readonly id: string;
  readonly ownerId: string;
  readonly provider: string;
  /** The enrollment whose stream decides over the version. */
  readonly agentId: string;
}

/** A version whose enrollment had not come to its end when it was looked at. */
export interface StagedVersion extends VersionRef {
  /** Since when, by the database's clock: milliseconds. */
  readonly ageMs: number;
}

export interface Activation {
  /** What the version is now; `gone` when it was destroyed. */
  readonly status: 'active' | 'retired' | 'gone';
  /** The version that an earlier enrollment brought for the same owner and provider, if it is still there. */
  readonly previousVersionId: string | undefined;
}

/** The value that was sealed cannot be had: it was altered or moved, or the key that it needs is not there. */
export class Unsealable extends Error {
  constructor(options?: ErrorOptions) {
    super('A sealed credential does not open.', options);
  }
}

/**
 * Sealed provider credentials. A value is stored once, as a version of its own; it is `staged` until an event in the
 * store names it, then `active` or, when a later enrollment's is, `retired`. Throws BackendUnavailable when the outcome
 * is not known.
 */
export interface CredentialVault {
  /**
   * Seals a value as a new staged version, which nobody sees. With `unless begun` it seals nothing and answers false when a
   * version was ever staged for the same enrollment; else it answers true.
   */
  stage(version: VersionRef, value: Secret, condition?: 'unless begun'): Promise<boolean>;
  /**
   * The enrollment at `position` named this version: it becomes the active one unless a later one is. Any number of
   * times, in any order, the version of the latest position ends active.
   */
  activate(version: VersionRef, position: bigint): Promise<Activation>;
  /** Destroys a version that no event names. One that is not staged any more is left alone. */
  discard(version: VersionRef): Promise<void>;
  /** Has the owner an active credential for the provider? */
  has(ownerId: string, provider: string): Promise<boolean>;
  /** The versions of an owner and provider that are still staged. */
  staged(ownerId: string, provider: string): Promise<readonly StagedVersion[]>;
  /** Staged versions of anybody that are older than `ageMs`, oldest first, at most `limit`. */
  stagedLongerThan(ageMs: number, limit: number): Promise<readonly StagedVersion[]>;
  /** The credential that has this id among an owner's, with the position of the enrollment that brought its latest
   * version (undefined while that is staged). */
  find(
    ownerId: string,
    credentialId: string,
  ): Promise<{ readonly provider: string; readonly latest: bigint | undefined } | undefined>;
  /** The active value. Throws Unsealable. */
  open(ownerId: string, provider: string): Promise<Secret | undefined>;
  /** Destroys a version that was retired, once its agents are gone. */
  destroyRetired(version: VersionRef): Promise<void>;
  /** Destroys every version that an enrollment up to this position brought. */
  destroy(ownerId: string, provider: string, upTo: bigint): Promise<void>;
  /** Destroys every version of an owner, staged ones too (erase). */
  destroyOwner(ownerId: string): Promise<void>;
}
