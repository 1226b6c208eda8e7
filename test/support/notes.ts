import { join } from 'node:path';
import type { EventOf } from '../../src/domain/kernel/aggregate.js';
import type { keyEvents } from '../../src/domain/key/events.js';
import type { threadEvents } from '../../src/domain/thread/events.js';
import { projection } from '../../projections/kit/projection.js';
import { sql } from '../../projections/kit/sql.js';

/** Small projections for suites about the machinery itself. */
export const notesFolder = join(__dirname, 'projections');

export const notes = projection<EventOf<typeof threadEvents>>({
  name: 'notes',
  schema: 'notes.sql',
  tables: ['notes'],
  on: {
    'thread.created': ({ threadId, title }, { ownerId, at, position }) => sql`
      insert into notes (id, owner_id, title, changes, changed_at, position)
      values (${threadId}, ${ownerId}, ${title}, 0, ${at}, ${position}) on conflict (id) do nothing`,
    'thread.updated': ({ threadId, title }, { ownerId, at, position }) => sql`
      update notes set title = ${title}, changes = changes + 1, changed_at = ${at}, position = ${position}
      where owner_id = ${ownerId} and id = ${threadId} and position < ${position}`,
    'thread.deleted': ({ threadId }, { ownerId }) =>
      sql`delete from notes where owner_id = ${ownerId} and id = ${threadId}`,
  },
});

export const trail = projection<EventOf<typeof keyEvents>>({
  name: 'trail',
  schema: 'trail.sql',
  tables: ['trail'],
  on: {},
  onEvery: ({ id, type, stream, revision, position, metadata, digest }) => sql`
    insert into trail (position, owner_id, event_id, type, stream, revision, digest)
    values (${position}, ${metadata['ownerId']}, ${id}, ${type}, ${stream}, ${revision}, ${digest}) on conflict do nothing`,
});
