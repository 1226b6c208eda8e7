import type { Actor } from '../../domain/kernel/envelope.js';
import type { PadRole } from '../../domain/kernel/roles.js';
import type { Role } from '../../domain/kernel/roles.js';
import type { Author } from '../../domain/kernel/author.js';

/** Who is calling, as their key says. Ownership of everything comes from here and from nowhere else. */
export interface Caller {
  /** The tenant. */
  readonly userId: string;
  readonly workspaceId: string;
  readonly keyId: string;
  /** The agent of the user's that the key acts as. */
  readonly agentId?: string;
  readonly role: Role;
  readonly scopes: ReadonlySet<string>;
  /** The one scratchpad that the key is bound to, and the role it acts in there. */
  readonly pad?: { readonly scratchpadId: string; readonly role: PadRole };
}

/** Whom events name: the tenant, by which key, and as which agent of theirs. */
export const actorOf = ({ userId, keyId, agentId }: Caller): Actor =>
  agentId === undefined ? { type: 'user', id: userId, keyId } : { type: 'user', id: userId, keyId, agentId };

/** Who wrote what is written: the agent that acts, or else the key. */
export const authorOf = ({ keyId, agentId }: Caller): Author =>
  agentId === undefined ? { type: 'key', id: keyId } : { type: 'agent', id: agentId };

const families = [
  'users',
  'workspaces',
  'keys',
  'threads',
  'messages',
  'scratchpads',
  'agents',
  'research',
  'credentials',
  'capabilities',
  'jobs',
  'wallets',
  'audit',
  'projections',
] as const;

/** Every scope there is: reads of a family need `family:read`, writes `family:write`. */
export const allScopes: readonly string[] = families.flatMap((family) => [`${family}:read`, `${family}:write`]);

/** What a new key of a role carries unless it is asked to carry less. */
export const scopesOf = (role: Role): readonly string[] =>
  role === 'auditor'
    ? allScopes.filter((scope) => scope.endsWith(':read') || scope === 'keys:write')
    : role === 'admin'
      ? allScopes
      : allScopes.filter((scope) => !scope.startsWith('projections:'));
