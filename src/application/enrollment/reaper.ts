import { abandon, agent } from '../../domain/agent/agent.js';
import { isRefusal } from '../../domain/kernel/refusal.js';
import type { EventSourcing } from '../event-sourcing/append.js';
import { systemCommand } from '../event-sourcing/command.js';
import { OwnerStreams } from '../event-sourcing/owner-streams.js';
import { derivedUuid } from '../kernel/ids.js';
import type { StagedVersion, StagedVersions } from '../ports/credential-vault.js';
import { resolveStaged } from './staged-versions.js';

/**
 * An enrollment takes 20 s at the very most: two reads, a sealing, an append sent three times. After three times that, by
 * the database's clock, the process that began it is dead or has given up.
 */
export const reapAfterMs = 60_000;
const atOnce = 200;

interface ReaperNeeds {
  readonly eventSourcing: EventSourcing;
  readonly vault: StagedVersions;
}

/**
 * Ends enrollments that were begun and never committed, and answers how many staged versions it resolved.
 * Invariant: `agent.enrollment_abandoned` as the first event of the stream decides it, so that a process that wakes later
 * loses; only then the sealed bytes are destroyed (docs/flows.md#reap-staged).
 */
export async function reapStaged(needs: ReaperNeeds, olderThanMs: number = reapAfterMs): Promise<number> {
  const stale = await needs.vault.stagedLongerThan(olderThanMs, atOnce);
  for (const version of stale) await reap(version, needs);
  return stale.length;
}

async function reap(version: StagedVersion, { eventSourcing, vault }: ReaperNeeds): Promise<void> {
  const resolving = { store: eventSourcing.store, vault };
  if ((await resolveStaged(version, resolving)) !== 'undecided') return;
  const decision = abandon(agent.initial, { agentId: version.agentId, credentialVersionId: version.id });
  if (isRefusal(decision)) return;
  const command = systemCommand({ id: derivedUuid('reap', version.id), clock: eventSourcing.clock });
  const { firstEvents } = new OwnerStreams(eventSourcing, version.ownerId, command);
  const stream = `${agent.category}-${version.agentId}`;
  for (const event of decision) await firstEvents.appendFirst(stream, { ...event, id: command.eventId(stream) });
  // Whichever event was first, the stream now says what becomes of the version.
  await resolveStaged(version, resolving);
}
