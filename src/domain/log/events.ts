import { z } from 'zod';

// These names and shapes are what the store keeps for ever: add beside them, never edit in place.
export const logEvents = { 'log.created': z.object({ logId: z.uuid() }) };
