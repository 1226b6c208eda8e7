/** When a key was last used; written behind, at most once a minute per key. */
export interface KeyUsage {
  touch(keyId: string, ownerId: string): void;
}
