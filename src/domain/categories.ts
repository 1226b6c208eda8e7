import { agent } from './agent/agent.js';
import { credential } from './credential/credential.js';
import { key } from './key/key.js';
import { log } from './log/log.js';
import { research } from './research/research.js';
import { claims } from './scratchpad/claims.js';
import { ledger } from './scratchpad/ledger.js';
import { scratchpad } from './scratchpad/scratchpad.js';
import { thread } from './thread/thread.js';
import { user } from './user/user.js';
import { workspace } from './workspace/workspace.js';

const aggregates = [agent, claims, credential, key, ledger, log, research, scratchpad, thread, user, workspace];

/** What the names of this product's streams begin with. */
export const categories: ReadonlySet<string> = new Set(aggregates.map(({ category }) => category));

/** The category of a stream: what stands before the first hyphen of its name. */
export const categoryOf = (stream: string): string => stream.slice(0, Math.max(stream.indexOf('-'), 0));
