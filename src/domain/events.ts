import type { EventSchemas } from './kernel/aggregate.js';
import type { Upcasts } from './kernel/upcast.js';
import { agentEvents, agentUpcasts } from './agent/events.js';
import { credentialEvents, credentialUpcasts } from './credential/events.js';
import { keyEvents, keyUpcasts } from './key/events.js';
import { logEvents } from './log/events.js';
import { researchEvents, researchUpcasts } from './research/events.js';
import { claimEvents, ledgerEvents, scratchpadEvents, scratchpadUpcasts } from './scratchpad/events.js';
import { threadEvents, threadUpcasts } from './thread/events.js';
import { userEvents, userUpcasts } from './user/events.js';
import { workspaceEvents, workspaceUpcasts } from './workspace/events.js';

/** Every event type that this version knows. */
export const eventSchemas: EventSchemas = {
  ...logEvents,
  ...userEvents,
  ...workspaceEvents,
  ...keyEvents,
  ...threadEvents,
  ...scratchpadEvents,
  ...ledgerEvents,
  ...claimEvents,
  ...agentEvents,
  ...credentialEvents,
  ...researchEvents,
};

export const upcasts: Upcasts = {
  ...userUpcasts,
  ...workspaceUpcasts,
  ...keyUpcasts,
  ...threadUpcasts,
  ...scratchpadUpcasts,
  ...agentUpcasts,
  ...credentialUpcasts,
  ...researchUpcasts,
};
