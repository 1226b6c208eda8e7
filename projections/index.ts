import { agents } from './agents.js';
import { audit } from './audit.js';
import { credentials } from './credentials.js';
import { keys } from './keys.js';
import type { Projection } from './kit/projection.js';
import { research } from './research.js';
import { resources } from './resources.js';
import { workspaces } from './workspaces.js';

/** Every read model there is. */
export const projections: readonly Projection[] = [resources, workspaces, keys, agents, credentials, research, audit];

/**
 * Event types that no reply waits for, and how many milliseconds they may wait for others to fill a transaction.
 * Why: they arrive in bursts of thousands, and a transaction for each handful is waste.
 */
export const deferrable = { types: new Set(['scratchpad.entry_appended']), ms: 40 };
