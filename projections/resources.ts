import { combine } from './kit/projection.js';
import { ledgers } from './ledgers.js';
import { messages } from './messages.js';
import { scratchpads } from './scratchpads.js';
import { threads } from './threads.js';
import { users } from './users.js';

/**
 * Users and what they own.
 * Why one projection: its tables refer to each other, so that deleting a thread's row takes its messages and its scratchpad
 * with it, and deleting a user's row takes everything.
 */
export const resources = combine('resources', [users, threads, messages, scratchpads, ledgers]);
