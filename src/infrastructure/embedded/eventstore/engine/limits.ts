/** The real server's default of the releases this client targets; a larger one here could be refused in production. */
export const MAX_APPEND_BYTES = 1024 * 1024;

/** What an event is charged at least, so that an append of nothing but empty ones ends, too. */
export const MIN_EVENT_BYTES = 16;

/** What an event takes up in memory beyond its bytes. */
export const EVENT_OVERHEAD = 200;

/** Longest request message read, as the official client allows for replies. */
export const MAX_MESSAGE_BYTES = 17 * 1024 * 1024;

/** One commit takes at most this much, so that a burst cannot grow a single statement without bound. */
export const MAX_BATCH_BYTES = 4 * 1024 * 1024;
export const MAX_BATCH_EVENTS = 2048;

/** Undecided and uncommitted bytes above which callers are read no further. */
export const MAX_PENDING_BYTES = 32 * 1024 * 1024;

/** Bytes of appends that are still arriving, over all connections; what goes beyond is refused. */
export const MAX_ARRIVING_BYTES = 128 * 1024 * 1024;

/** Committed events kept in memory for subscribers at the tip; whoever is slower reads from storage. */
export const RECENT_BYTES = 16 * 1024 * 1024;
export const RECENT_EVENTS = 32_768;

/** Ids remembered for the weak idempotency of `any` and `stream_exists`. */
export const RECENT_IDS = 32_768;

/** Streams whose state is kept in memory, and how many ids of each for the strong idempotency of exact revisions. */
export const CACHED_HEADS = 20_000;
export const IDS_PER_HEAD = 16;

/** A page read from storage ends at whichever comes first. */
export const PAGE_EVENTS = 250;
export const PAGE_BYTES = 4 * 1024 * 1024;
