/** Turns one stored version of an event's data into the next. */
export type Upcast = (data: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;

/** Oldest first. The list is the version history: two upcasts mean that the current version is three. */
export type Upcasts = Readonly<Record<string, readonly Upcast[]>>;
