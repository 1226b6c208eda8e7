import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { appRoleOf } from '../../src/infrastructure/postgres/app-role.js';

export interface FreshDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** An empty database of its own on the test server, so that suites do not meet. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const server = process.env['TEST_DATABASE_URL'];
  if (server === undefined) throw new Error('TEST_DATABASE_URL is not set: run the tests with jest.');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async drop() {
      await onServer(server, `drop database if exists ${name} with (force)`);
      await onServer(server, `drop role if exists ${appRoleOf(name)}`);
    },
  };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
