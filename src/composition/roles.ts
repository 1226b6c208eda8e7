import { T } from './tokens.js';

export const roles = ['all', 'api', 'worker', 'projector'] as const;
export type Role = (typeof roles)[number];
export type Part = 'projector' | 'worker' | 'api';

export const partsOf: Readonly<Record<Role, readonly Part[]>> = {
  all: ['projector', 'worker', 'api'],
  api: ['api'],
  worker: ['worker'],
  projector: ['projector'],
};

/** What a part starts, in this order. The api's door is started by serve.ts. */
export const startedBy = {
  projector: [T.projector],
  worker: [T.reactions, T.purgeWorker, T.reaper, T.ledgerAuditor, T.researchWorker],
  api: [],
} satisfies Readonly<Record<Part, readonly unknown[]>>;
