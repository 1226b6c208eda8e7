import type { PadRole } from '../domain/scratchpad/entry-kinds.js';
import type { Role } from '../domain/user/events.js';

/** Who is calling, as their key says. Ownership of everything comes from here and from nowhere else. */
export interface Caller {
  /** The tenant. */
  readonly userId: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly role: Role;
  readonly scopes: ReadonlySet<string>;
  /** The one scratchpad that the key is bound to, and the role it acts in there. */
  readonly pad?: { readonly scratchpadId: string; readonly role: PadRole };
}

const families = [
  'users',
  'workspaces',
  'keys',
  'threads',
  'messages',
  'scratchpads',
  'agents',
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
