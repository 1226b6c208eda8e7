import { derivedId } from '../kernel/ids.js';
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

/** Versions whose enrollment has not come to its event. Fails when: the outcome is not known → BackendUnavailable. */
export interface StagedVersions {
  /**
   * Seals a value as a new staged version, which nobody sees. With `only if first` it seals nothing and answers false when
   * a version was ever staged for the same enrollment; else it answers true.
   */
  stage(version: VersionRef, value: Secret, condition?: 'only if first'): Promise<boolean>;
  /**
   * Activates a version that the enrollment at `position` named, unless a later one is active.
   * Invariant: any number of times, in any order, the version of the latest position ends active.
   */
  activate(version: VersionRef, position: bigint): Promise<Activation>;
  /** Destroys a version that no event names. One that is not staged any more is left alone. */
  discard(version: VersionRef): Promise<void>;
  /** The versions of an owner and provider that are still staged. */
  staged(ownerId: string, provider: string): Promise<readonly StagedVersion[]>;
  /** Staged versions of any owner that are older than `ageMs`, oldest first, at most `limit`. */
  stagedLongerThan(ageMs: number, limit: number): Promise<readonly StagedVersion[]>;
}

/** Credentials that are in use. Fails when: the outcome is not known → BackendUnavailable. */
export interface KeptCredentials {
  /** Answers whether the owner has an active credential for the provider. */
  has(ownerId: string, provider: string): Promise<boolean>;
  /**
   * The credential that has this id among an owner's, with the position of the enrollment that brought its latest version
   * (undefined while that is staged).
   */
  find(
    ownerId: string,
    credentialId: string,
  ): Promise<{ readonly provider: string; readonly latest: bigint | undefined } | undefined>;
  /** Opens the active value. Fails when: it was altered or its key is missing → Unsealable. */
  open(ownerId: string, provider: string): Promise<Secret | undefined>;
}

/** The end of credentials. Every call can be repeated. Fails when: the outcome is not known → BackendUnavailable. */
export interface CredentialDestruction {
  /** Destroys a version that was retired, once its agents are gone. */
  destroyRetired(version: VersionRef): Promise<void>;
  /** Destroys every version that an enrollment up to this position brought. */
  destroy(ownerId: string, provider: string, upTo: bigint): Promise<void>;
  /** Destroys every version of an owner, staged ones too. */
  destroyOwner(ownerId: string): Promise<void>;
}

/**
 * Sealed provider credentials. Invariant: a value is stored once, as a version of its own; it is `staged` until an event
 * names it, then `active` or, when a later enrollment's version is, `retired`.
 */
export type CredentialVault = StagedVersions & KeptCredentials & CredentialDestruction;

/** An owner keeps one credential for a provider, whatever versions it has had. */
export const credentialIdOf = (ownerId: string, provider: string): string => derivedId('credential', ownerId, provider);
