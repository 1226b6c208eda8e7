import { agent, retire } from '../../domain/agent/agent.js';
import { agentEvents } from '../../domain/agent/events.js';
import { credential, rotate } from '../../domain/credential/credential.js';
import { credentialEvents } from '../../domain/credential/events.js';
import { user } from '../../domain/user/user.js';
import type { DecodedEvent } from '../event-sourcing/codec.js';
import type { CredentialVault } from '../ports/credential-vault.js';
import type { Reaction, SystemWork } from './reaction.js';

const rememberedOwners = 10_000;

/**
 * What follows from an enrollment, once more and in the order of the log: its version is made active, a rotation is noted,
 * and what is not needed any more is destroyed (03-flows "agent.enroll"). Every step is idempotent.
 */
export function enrollmentReaction(workFor: (event: DecodedEvent) => SystemWork, vault: CredentialVault): Reaction {
  // Who was looked at and not erased: were they since, that event would have come by before any later one.
  const living = new Set<string>();

  const isErased = async (ownerId: string, { position }: DecodedEvent, { streams }: SystemWork): Promise<boolean> => {
    if (living.has(ownerId)) return false;
    if ((await streams.load(user, ownerId, position)).status === 'erased') return true;
    if (living.size >= rememberedOwners) living.clear();
    living.add(ownerId);
    return false;
  };

  return {
    name: 'enrollment_life',
    sealed: true,
    reset: () => living.clear(),
    // What comes of an enrollment concerns its credential and nothing else.
    partitionBy: { 'agent.enrolled': ({ data }) => String(data['credentialId']) },
    on: {
      async 'user.erased'(event) {
        living.delete(String(event.data['userId']));
      },

      async 'agent.enrolled'(event) {
        const work = workFor(event);
        const { streams } = work;
        const { ownerId } = event.metadata;
        const { agentId, provider, credentialId, credentialVersionId } = agentEvents['agent.enrolled'].parse(
          event.data,
        );
        if (await isErased(ownerId, event, work)) {
          await streams.execute(agent, agentId, (state) => retire(state, 'owner_erased'));
          await vault.destroyOwner(ownerId);
          return;
        }
        if (credentialVersionId === null) return;
        const version = { id: credentialVersionId, ownerId, provider, agentId };
        const { previousVersionId } = await vault.activate(version, event.position);
        if (previousVersionId === undefined) return;
        const rotation = { credentialId, provider, versionId: version.id, previousVersionId, agentId };
        const position = event.position.toString();
        await streams.execute(credential, credentialId, (state) => rotate(state, { ...rotation, position }));
      },

      async 'agent.retired'(event) {
        const retired = await workFor(event).streams.load(agent, String(event.data['agentId']));
        if (retired.status !== 'retired' || retired.credentialVersionId === null) return;
        const { id: agentId, ownerId, provider, credentialVersionId: id } = retired;
        await vault.destroyRetired({ id, ownerId, provider, agentId });
      },

      async 'credential.deleted'(event) {
        const { provider, upTo } = credentialEvents['credential.deleted'].parse(event.data);
        await vault.destroy(event.metadata.ownerId, provider, BigInt(upTo));
      },
    },
  };
}
