/** What the user can put right, in one line; it repeats nothing that could be a secret. */
export class UsageError extends Error {}
