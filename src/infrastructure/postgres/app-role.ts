import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { DatabaseError, escapeIdentifier, escapeLiteral, type ClientBase } from 'pg';
import { purposeKey } from '../../application/kernel/installation-keys.js';
import { StartupError } from '../startup-error.js';

/** Postgres cuts names at this many bytes. */
const longestName = 63;

/** Names the role that tenants' reads connect as: one per database, because roles are shared by a whole server. */
export function appRoleOf(database: string): string {
  const name = `${database}_app`;
  if (Buffer.byteLength(name) <= longestName) return name;
  return `palimpsest_${createHash('sha256').update(database).digest('hex').slice(0, 32)}_app`;
}

export const appRoleOfUrl = (ownerUrl: string): string => appRoleOf(databaseOf(parsed(ownerUrl)));

/** The same database as the app role. Its password comes from the KEK, so every process that has the KEK knows it. */
export function appRoleUrl(ownerUrl: string, kek: Buffer): string {
  const url = parsed(ownerUrl);
  const database = databaseOf(url);
  url.username = '';
  url.password = '';
  url.pathname = `/${encodeURI(database)}`;
  // The driver looks here first, and a URL without a host has no other place for them.
  url.searchParams.set('user', appRoleOf(database));
  url.searchParams.set('password', appPassword(kek));
  return url.href;
}

function parsed(ownerUrl: string): URL {
  if (!URL.canParse(ownerUrl)) throw new StartupError('DATABASE_URL must be a URL, as postgres://user@host/database.');
  return new URL(ownerUrl);
}

/** A URL without a database means the one named like its user. */
function databaseOf(url: URL): string {
  const user = url.searchParams.get('user') ?? decodeURIComponent(url.username);
  const database = decodeURI(url.pathname.slice(1)) || user;
  if (database === '') throw new StartupError('DATABASE_URL must name a database, as postgres://user@host/database.');
  return database;
}

const appPassword = (kek: Buffer): string => purposeKey(kek, 'database role').toString('hex');

/** Makes the app role, or gives the one that is there its password and takes what it must not have. Answers its name. */
export async function ensureAppRole(client: ClientBase, ownerUrl: string, kek: Buffer): Promise<string> {
  const role = appRoleOfUrl(ownerUrl);
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role]);
  // Roles take no parameters. What else the role must not have is checked (tenancy-check.ts), not taken away here, because
  // an owner that is no superuser may not even name it.
  const as = `role ${escapeIdentifier(role)} login password ${escapeLiteral(verifierOf(appPassword(kek)))}`;
  if (rowCount === 0) await client.query(`create ${as}`);
  else await client.query(`alter ${as}`).catch(passOver);
  return role;
}

/** An owner without CREATEROLE may not give the role its password: whether it has it is found out by the login that follows. */
function passOver(fault: unknown): void {
  if (!(fault instanceof DatabaseError && fault.code === '42501')) throw fault;
}

/** What Postgres stores of a password (SCRAM-SHA-256, RFC 5803): sent instead of it, so that no statement log holds it. */
function verifierOf(password: string): string {
  const rounds = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, rounds, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${rounds}:${salt.toString('base64')}$${storedKey}:${hmac('Server Key').toString('base64')}`;
}
