import type { ScratchpadEvent, LedgerEvent } from '../src/domain/scratchpad/events.js';
import type { ThreadEvent } from '../src/domain/thread/events.js';
import type { UserEvent } from '../src/domain/user/events.js';
import { messageRows } from './messages.js';
import { projection } from './kit/projection.js';
import { scratchpadRows } from './scratchpads.js';
import { threadRows } from './threads.js';
import { userRows } from './users.js';

/**
 * Users and what they own. One projection, because its tables refer to each other (S1): deleting a thread's row takes
 * its messages and its scratchpad with it, deleting a user's row takes everything.
 */
export const resources = projection<UserEvent | ThreadEvent | ScratchpadEvent | LedgerEvent>({
  name: 'resources',
  schema: 'resources.sql',
  tables: ['users', 'threads', 'messages', 'scratchpads'],
  on: { ...userRows, ...threadRows, ...messageRows, ...scratchpadRows },
});
