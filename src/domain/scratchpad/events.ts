import { z } from 'zod';
import { authorSchema } from '../kernel/author.js';
import type { EventOf } from '../kernel/aggregate.js';
import { personal } from '../kernel/personal.js';
import type { Upcasts } from '../kernel/upcast.js';
import { metadataValues } from '../kernel/metadata-values.js';

// These names and shapes are what the store keeps for ever: add beside them, never edit in place.
// Bodies are never in events: ids, sizes (UTF-8 bytes) and digests (hex SHA-256) only, so that an erased word is nowhere.
export const scratchpadEvents = {
  'scratchpad.created': z.object({ scratchpadId: z.string(), threadId: z.string(), ownerId: z.string() }),
  'scratchpad.updated': z.object({
    scratchpadId: z.string(),
    metadata: personal(metadataValues, { erased: '[erased]' }),
  }),
  'scratchpad.content_set': z.object({
    scratchpadId: z.string(),
    revision: z.number().int(),
    bytes: z.number().int(),
    sha256: z.string(),
    author: authorSchema,
  }),
  'scratchpad.content_cleared': z.object({
    scratchpadId: z.string(),
    revision: z.number().int(),
    author: authorSchema,
  }),
  'scratchpad.deleted': z.object({ scratchpadId: z.string(), threadId: z.string() }),
  'scratchpad.purged': z.object({ scratchpadId: z.string() }),
};
export type ScratchpadEvent = EventOf<typeof scratchpadEvents>;

/**
 * Events of the ledger's own stream, `scratchpad_ledger-{id}`: the entries of the list without their bodies. `clears` is
 * the number of the generation: indexes begin again after each clear (docs/decisions/0030-ledger-and-stream.md).
 * Invariant: writers store these events in any order, and a retry may store one twice under one id.
 */
export const ledgerEvents = {
  'scratchpad.entry_appended': z.object({
    scratchpadId: z.string(),
    entryId: z.string(),
    index: z.number().int(),
    kind: z.string(),
    bytes: z.number().int(),
    sha256: z.string(),
    author: authorSchema,
    clears: z.number().int().optional(),
  }),
  'scratchpad.entries_cleared': z.object({
    scratchpadId: z.string(),
    clearId: z.string(),
    count: z.number().int(),
    lastEntryId: z.string().nullable(),
    /** The generation that begins with this clear. */
    clears: z.number().int().optional(),
  }),
  'scratchpad.entries_lost': z.object({
    scratchpadId: z.string(),
    clears: z.number().int(),
    from: z.number().int(),
    to: z.number().int(),
    reason: z.string(),
  }),
  'scratchpad.entry_repeated': z.object({
    scratchpadId: z.string(),
    clears: z.number().int(),
    entryId: z.string(),
    index: z.number().int(),
    /** Index where the entry stands first. */
    of: z.number().int(),
  }),
};
export type LedgerEvent = EventOf<typeof ledgerEvents>;

/** Leases on work, in `scratchpad_claims-{id}`: one at a time for a subject, decided at exact revisions. */
export const claimEvents = {
  'scratchpad.claim_taken': z.object({
    scratchpadId: z.string(),
    subjectSha256: z.string(),
    entryId: z.string(),
    holder: authorSchema,
    expiresAt: z.string(),
  }),
};
export type ClaimEvent = EventOf<typeof claimEvents>;

export const scratchpadUpcasts: Upcasts = {};
