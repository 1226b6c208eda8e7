export const roles = ['member', 'auditor', 'admin'] as const;

export type Role = (typeof roles)[number];

/** Roles on a scratchpad. An owner's keys act as either; a key bound to a scratchpad acts in the role of its binding. */
export const padRoles = ['supervisor', 'worker'] as const;

export type PadRole = (typeof padRoles)[number];
