/** The owner's data key: seals personal text; what was sealed opens only with the same `context`. */
export interface PersonalDataKey {
  seal(plain: string, context: string): string;
  open(sealed: string, context: string): string;
}

/** Data keys, one per owner, wrapped by the KEK at rest. Destroying one is the erasure of all that it sealed. */
export interface PersonalDataKeys {
  /** The key to seal with, made at the first call. Throws SubjectErased. */
  sealingKey(ownerId: string): Promise<PersonalDataKey>;
  /** The keys to open with; owners without a key (erased, or never had one) are left out. */
  openingKeys(ownerIds: ReadonlySet<string>): Promise<ReadonlyMap<string, PersonalDataKey>>;
  /** For good, in every process within 5 s. Destroying twice is fine. */
  destroy(ownerId: string): Promise<void>;
}
