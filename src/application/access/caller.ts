import type { Actor } from '../../domain/kernel/envelope.js';
import type { PadRole, Role } from '../../domain/kernel/roles.js';
import type { Author } from '../../domain/kernel/author.js';

/** The caller, as their key says. Invariant: ownership of everything comes from here and from nowhere else. */
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

/** The actor that events name: the tenant, by which key, and as which agent of theirs. */
export const actorOf = ({ userId, keyId, agentId }: Caller): Actor =>
  agentId === undefined ? { type: 'user', id: userId, keyId } : { type: 'user', id: userId, keyId, agentId };

/** The author of what is written: the agent that acts, or else the key. */
export const authorOf = ({ keyId, agentId }: Caller): Author =>
  agentId === undefined ? { type: 'key', id: keyId } : { type: 'agent', id: agentId };

/** The scratchpad that a request acts on without naming it, and the role it acts in; no role: the owner, who has both. */
export interface ScratchpadBinding {
  readonly scratchpadId: string;
  readonly role: PadRole | undefined;
}
