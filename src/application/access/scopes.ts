import type { Role } from '../../domain/kernel/roles.js';

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
  'audit',
  'projections',
] as const;

/** Every scope: reads of a family need `family:read`, writes `family:write`. */
export const allScopes: readonly string[] = families.flatMap((family) => [`${family}:read`, `${family}:write`]);

/** The scopes of a new key of a role, unless it is asked to carry less. */
export function scopesOf(role: Role): readonly string[] {
  switch (role) {
    case 'admin':
      return allScopes;
    case 'auditor':
      return allScopes.filter((scope) => scope.endsWith(':read') || scope === 'keys:write');
    case 'member':
      return allScopes.filter((scope) => !scope.startsWith('projections:'));
  }
}
