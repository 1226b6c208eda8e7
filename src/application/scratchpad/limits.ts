import { entryFields } from './entries/fields.js';

/** Limits of the scratchpad store, in UTF-8 bytes. */
export const maxContentBytes = 1024 * 1024;
export const maxEntryBytes = 64 * 1024;

/** What stands in a view at most; the list pages through all entries. */
export const viewLimits = { entries: 1000, bytes: 1024 * 1024 };

/** For the descriptions of the operations that answer with a view. */
export const viewedEntriesText = `the last ${viewLimits.entries}, or as many of them as fit into ${viewLimits.bytes} bytes`;

/** For the API document: which fields a kind of entry takes. */
export const entryFieldsText = Object.entries(entryFields)
  .map(([kind, { shape }]) => [kind, Object.keys(shape)] as const)
  .map(([kind, fields]) => `${kind}: ${fields.length > 0 ? fields.join(', ') : 'none'}`)
  .join('; ');
