import { randomUUID } from 'node:crypto';
import { abandon, agent } from '../../domain/agent/agent.js';
import { isRefusal } from '../../domain/kernel/refusal.js';
import { derivedUuid } from '../kernel/ids.js';
import { systemWork, type SystemNeeds } from '../tenancy/tenants.js';
import { resolveStaged } from './staged-versions.js';

/**
 * An enrollment takes 20 s at the very most: two reads, a sealing, an append sent three times. After three times that, by
 * the database's clock, whoever began it is dead or has given up (03-flows, rule 7).
 */
export const reapAfterMs = 60_000;
const atOnce = 200;

/**
 * Ends enrollments that were begun and never came to their event: `agent.enrollment_abandoned` as the first event of the
 * stream decides it, so that a sleeper who wakes later loses. Only then the sealed bytes are destroyed. Answers how many
 * staged versions it dealt with.
 */
export async function reapStaged(needs: SystemNeeds, olderThanMs: number = reapAfterMs): Promise<number> {
  const { vault } = needs;
  const stale = await vault.stagedLongerThan(olderThanMs, atOnce);
  for (const version of stale) {
    const commandId = derivedUuid('reap', version.id);
    const { streams } = systemWork(needs, { ownerId: version.ownerId, correlationId: randomUUID(), commandId });
    if ((await resolveStaged(version, { streams, vault })) !== 'undecided') continue;
    const decision = abandon(agent.initial, { agentId: version.agentId, credentialVersionId: version.id });
    if (isRefusal(decision)) continue;
    const stream = `${agent.category}-${version.agentId}`;
    for (const event of decision) await streams.begin(stream, { ...event, id: streams.eventId(stream) });
    // Whoever was first, the stream now says what the version is.
    await resolveStaged(version, { streams, vault });
  }
  return stale.length;
}
