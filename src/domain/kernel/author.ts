import { z } from 'zod';

export const authorSchema = z.object({ type: z.string(), id: z.string() });

/** The writer of a text: a key, or the agent that it acts as. */
export interface Author {
  readonly type: 'key' | 'agent';
  readonly id: string;
}
