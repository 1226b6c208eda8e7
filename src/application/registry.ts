import type { Operation } from './operation/operation.js';
import { enrollAgent } from './operations/agent/enroll-agent.js';
import { getEnrollment } from './operations/agent/get-enrollment.js';
import { listAgents } from './operations/agent/list-agents.js';
import { exportAudit } from './operations/audit/export-audit.js';
import { followAudit } from './operations/audit/follow-audit.js';
import { listAudit } from './operations/audit/list-audit.js';
import { verifyAudit } from './operations/audit/verify-audit.js';
import { deleteCredential } from './operations/credential/delete-credential.js';
import { listCredentials } from './operations/credential/list-credentials.js';
import { listHarnesses } from './operations/harness/list-harnesses.js';
import { createKey } from './operations/key/create-key.js';
import { listKeys } from './operations/key/list-keys.js';
import { revokeKey } from './operations/key/revoke-key.js';
import { appendMessage } from './operations/message/append-message.js';
import { deleteMessage } from './operations/message/delete-message.js';
import { listMessages } from './operations/message/list-messages.js';
import { listProjections } from './operations/projection/list-projections.js';
import { rebuildProjection } from './operations/projection/rebuild-projection.js';
import { cancelResearch } from './operations/research/cancel-research.js';
import { getResearch } from './operations/research/get-research.js';
import { listResearch } from './operations/research/list-research.js';
import { startResearch } from './operations/research/start-research.js';
import { appendEntry } from './operations/scratchpad/append-entry.js';
import { clearContent } from './operations/scratchpad/clear-content.js';
import { clearEntries } from './operations/scratchpad/clear-entries.js';
import { clearScratchpad } from './operations/scratchpad/clear-scratchpad.js';
import { createScratchpad } from './operations/scratchpad/create-scratchpad.js';
import { deleteScratchpad } from './operations/scratchpad/delete-scratchpad.js';
import { followScratchpad } from './operations/scratchpad/follow-scratchpad.js';
import { getContent } from './operations/scratchpad/get-content.js';
import { getScratchpad } from './operations/scratchpad/get-scratchpad.js';
import { listEntries } from './operations/scratchpad/list-entries.js';
import { listScratchpads } from './operations/scratchpad/list-scratchpads.js';
import { resolveScratchpad } from './operations/scratchpad/resolve-scratchpad.js';
import { scratchpadHistory } from './operations/scratchpad/scratchpad-history.js';
import { setContent } from './operations/scratchpad/set-content.js';
import { setMetadata } from './operations/scratchpad/set-metadata.js';
import { verifyScratchpad } from './operations/scratchpad/verify-scratchpad.js';
import { viewScratchpad } from './operations/scratchpad/view-scratchpad.js';
import { appendScratchpad } from './operations/tools/append-scratchpad.js';
import { readScratchpad } from './operations/tools/read-scratchpad.js';
import { updateScratchpadTool } from './operations/tools/update-scratchpad.js';
import { createThread } from './operations/thread/create-thread.js';
import { deleteThread } from './operations/thread/delete-thread.js';
import { getThread } from './operations/thread/get-thread.js';
import { listThreads } from './operations/thread/list-threads.js';
import { updateThread } from './operations/thread/update-thread.js';
import { createUser } from './operations/user/create-user.js';
import { eraseUser } from './operations/user/erase-user.js';
import { getMe } from './operations/user/get-me.js';
import { getUser } from './operations/user/get-user.js';
import { addMember } from './operations/workspace/add-member.js';
import { createWorkspace } from './operations/workspace/create-workspace.js';
import { getWorkspace } from './operations/workspace/get-workspace.js';
import { listWorkspaces } from './operations/workspace/list-workspaces.js';
import { removeMember } from './operations/workspace/remove-member.js';

/** The written list: an operation here exists on every door, any other nowhere. */
const listed = [
  createUser,
  getUser,
  eraseUser,
  getMe,
  createWorkspace,
  listWorkspaces,
  getWorkspace,
  addMember,
  removeMember,
  createKey,
  listKeys,
  revokeKey,
  createThread,
  getThread,
  listThreads,
  updateThread,
  deleteThread,
  appendMessage,
  listMessages,
  deleteMessage,
  createScratchpad,
  getScratchpad,
  listScratchpads,
  setMetadata,
  deleteScratchpad,
  resolveScratchpad,
  getContent,
  setContent,
  clearContent,
  appendEntry,
  listEntries,
  clearEntries,
  clearScratchpad,
  viewScratchpad,
  verifyScratchpad,
  scratchpadHistory,
  followScratchpad,
  enrollAgent,
  getEnrollment,
  listAgents,
  listHarnesses,
  listCredentials,
  deleteCredential,
  readScratchpad,
  updateScratchpadTool,
  appendScratchpad,
  startResearch,
  getResearch,
  listResearch,
  cancelResearch,
  listAudit,
  exportAudit,
  verifyAudit,
  followAudit,
  listProjections,
  rebuildProjection,
] as const;

/** Every operation there is. */
export const operations: readonly Operation[] = listed;

/** The same, each with the types that it was declared with. */
export type Operations = (typeof listed)[number];
