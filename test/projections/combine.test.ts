import { combine, projectionPart, type EventContext, type ProjectionPart } from '../../projections/kit/projection.js';
import { sql } from '../../projections/kit/sql.js';
import { formOf, projectionsFolder } from '../../src/infrastructure/postgres/read-model-tables.js';

const context: EventContext = {
  ownerId: 'ann',
  at: '2026-01-01T00:00:00Z',
  position: 1n,
  stream: 'thread-1',
  revision: 0,
  eventId: 'event',
  actor: { type: 'user', id: 'ann' },
};

const users = projectionPart({
  schema: 'users.sql',
  tables: ['users'],
  on: { 'thread.created': () => sql`select 1`, 'user.created': () => sql`select 2` },
});
const threads: ProjectionPart = {
  schema: ['threads.sql', 'messages.sql'],
  tables: ['threads', 'messages'],
  on: { 'thread.created': () => [sql`select 3`, sql`select 4`] },
};

describe('parts of a projection', () => {
  it('make one projection with the tables and files of all, in their order', () => {
    const { name, schema, tables } = combine('both', [users, threads]);
    expect({ name, schema, tables }).toEqual({
      name: 'both',
      schema: ['users.sql', 'threads.sql', 'messages.sql'],
      tables: ['users', 'threads', 'messages'],
    });
  });

  it('handle an event they share one after the other', () => {
    const { on } = combine('both', [users, threads]);
    const statements = [on['thread.created']?.({}, context) ?? []].flat();
    expect(statements.map(({ text }) => text)).toEqual(['select 1', 'select 3', 'select 4']);
    expect(on['user.created']).toBe(users.on['user.created']);
  });

  it('change the form of the projection when one of them changes what it does', () => {
    const changed: ProjectionPart = { ...threads, on: { 'thread.created': () => sql`select 5` } };
    const form = (part: ProjectionPart) => formOf(combine('both', [users, part]), projectionsFolder);
    expect(form(threads)).toBe(form({ ...threads }));
    expect(form(changed)).not.toBe(form(threads));
  });
});
