import { agent, retire } from '../../domain/agent/agent.js';
import { agentEvents } from '../../domain/agent/events.js';
import { credential, rotate } from '../../domain/credential/credential.js';
import { credentialEvents } from '../../domain/credential/events.js';
import { user } from '../../domain/user/user.js';
import type { DecodedEvent } from '../event-sourcing/codec.js';
import type { Tenant } from '../tenancy/tenant.js';
import type { Reaction } from './reaction.js';

const rememberedOwners = 10_000;

/**
 * Completes enrollments in the order of the log: activates the version that was committed, records a rotation, destroys
 * what is not needed any more (docs/flows.md#enroll-agent). Invariant: every step is idempotent.
 */
export function enrollmentReaction(tenantOf: (event: DecodedEvent) => Tenant): Reaction {
  // Owners that were seen unerased: had they been erased since, that event would have come by before any later one.
  const unerased = new Set<string>();

  const isErased = async ({ metadata: { ownerId }, position }: DecodedEvent, { aggregates }: Tenant) => {
    if (unerased.has(ownerId)) return false;
    if ((await aggregates.load(user, ownerId, position)).status === 'erased') return true;
    if (unerased.size >= rememberedOwners) unerased.clear();
    unerased.add(ownerId);
    return false;
  };

  return {
    name: 'enrollment_life',
    needsPersonalData: false,
    reset: () => unerased.clear(),
    // What comes of an enrollment concerns its credential and nothing else.
    partitionBy: { 'agent.enrolled': ({ data }) => String(data['credentialId']) },
    on: {
      async 'user.erased'(event) {
        unerased.delete(String(event.data['userId']));
      },

      async 'agent.enrolled'(event) {
        const tenant = tenantOf(event);
        if (await isErased(event, tenant)) await retireErased(event, tenant);
        else await activate(event, tenant);
      },

      async 'agent.retired'(event) {
        const { aggregates, credentials } = tenantOf(event);
        const retired = await aggregates.load(agent, String(event.data['agentId']));
        if (retired.status !== 'retired' || retired.credentialVersionId === null) return;
        const { id: agentId, provider, credentialVersionId: id } = retired;
        await credentials.destroyRetired({ id, provider, agentId });
      },

      async 'credential.deleted'(event) {
        const { provider, upTo } = credentialEvents['credential.deleted'].parse(event.data);
        await tenantOf(event).credentials.destroy(provider, BigInt(upTo));
      },
    },
  };
}

async function retireErased({ data }: DecodedEvent, { aggregates, credentials }: Tenant): Promise<void> {
  const { agentId } = agentEvents['agent.enrolled'].parse(data);
  await aggregates.execute(agent, agentId, (state) => retire(state, 'owner_erased'));
  await credentials.destroyAll();
}

async function activate({ data, position }: DecodedEvent, { aggregates, credentials }: Tenant): Promise<void> {
  const { agentId, provider, credentialId, credentialVersionId: versionId } = agentEvents['agent.enrolled'].parse(data);
  if (versionId === null) return;
  const { previousVersionId } = await credentials.activate({ id: versionId, provider, agentId }, position);
  if (previousVersionId === undefined) return;
  const rotation = { credentialId, provider, versionId, previousVersionId, agentId, position: position.toString() };
  await aggregates.execute(credential, credentialId, (state) => rotate(state, rotation));
}
