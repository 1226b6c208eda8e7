export const roles = ['member', 'auditor', 'admin'] as const;

export type Role = (typeof roles)[number];

/** Who plans and who works. An owner's keys may act as either; a key bound to a pad acts in the role it was given. */
export const padRoles = ['supervisor', 'worker'] as const;

export type PadRole = (typeof padRoles)[number];
