/** `palimpsest/sdk`: what the client's users meet. */
export { Palimpsest } from './palimpsest.js';
export { PalimpsestError, type ErrorCode } from './errors.js';
export type { CallOptions, CommandOptions, PalimpsestOptions, ReadOptions } from './options.js';
export type { Answer, Call } from './call.js';
export type { Listing, Page } from './listing.js';
export type { Lines } from './lines.js';
export type { Following } from './following.js';
