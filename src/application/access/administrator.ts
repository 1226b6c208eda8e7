import { isRefusal } from '../../domain/kernel/refusal.js';
import * as keys from '../../domain/key/key.js';
import * as users from '../../domain/user/user.js';
import * as workspaces from '../../domain/workspace/workspace.js';
import type { KeyMaker } from './api-keys.js';
import { derivedId, newId } from '../kernel/ids.js';
import type { Aggregates } from '../event-sourcing/aggregates.js';
import { scopesOf } from './scopes.js';

/** The first user of an installation; the ids are always the same, so that processes that start together make one. */
export const administratorId = derivedId('user', 'administrator');
const workspaceId = derivedId('workspace', 'administrator');
const firstKeyId = derivedId('key', 'administrator');

/** Where the plain first key is kept for the operator. */
export interface KeyFile {
  write(key: string): void;
  remove(): void;
}

/**
 * Makes the administrator at the first start. The key is written to its file before its event is stored, so that a start
 * that dies in between leaves no key that nobody has; the next start writes another.
 */
export async function ensureAdministrator(
  aggregates: Aggregates,
  keyMaker: KeyMaker,
  file: KeyFile,
): Promise<'made' | 'there'> {
  const known = await aggregates.load(keys.key, firstKeyId);
  if (known.status !== 'absent') return 'there';
  const { key, secretHash, display } = keyMaker.make(firstKeyId);
  file.write(key);
  await aggregates.execute(users.user, administratorId, (state) =>
    state.status === 'absent'
      ? users.create(state, {
          userId: administratorId,
          name: 'Administrator',
          role: 'admin',
          workspaceId,
          keyId: firstKeyId,
        })
      : [],
  );
  await aggregates.execute(workspaces.workspace, workspaceId, (state) =>
    state.status === 'absent'
      ? workspaces.create(state, { workspaceId, name: 'Administrator', ownerId: administratorId })
      : [],
  );
  const issued = await issue(aggregates, firstKeyId, 'admin key', secretHash, display);
  if (!issued) file.remove(); // Another process was first; its file holds the key.
  return issued ? 'made' : 'there';
}

/** Another key for the administrator, for an operator who has lost the first. */
export async function issueAdministratorKey(
  aggregates: Aggregates,
  keyMaker: KeyMaker,
  now: Date,
): Promise<string | undefined> {
  const keyId = newId('key', now);
  const { key, secretHash, display } = keyMaker.make(keyId);
  return (await issue(aggregates, keyId, 'admin key, issued again', secretHash, display)) ? key : undefined;
}

async function issue(
  aggregates: Aggregates,
  keyId: string,
  name: string,
  secretHash: string,
  display: string,
): Promise<boolean> {
  const scopes = [...scopesOf('admin')];
  const data = {
    keyId,
    userId: administratorId,
    workspaceId,
    role: 'admin' as const,
    name,
    scopes,
    secretHash,
    display,
    expiresAt: null,
  };
  return !isRefusal(await aggregates.execute(keys.key, keyId, (state) => keys.create(state, data)));
}
