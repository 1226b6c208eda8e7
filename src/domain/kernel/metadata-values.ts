import { z } from 'zod';

/** Free key/value pairs of the owner; `[erased]` once the owner is. */
export const metadataValues = z.record(z.string(), z.string());
