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
