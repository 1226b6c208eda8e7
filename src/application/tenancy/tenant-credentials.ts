import { resolveAllStaged, usableCredentials } from '../enrollment/staged-versions.js';
import type { Secret } from '../kernel/secret.js';
import type { Activation, CredentialVault, VersionRef } from '../ports/credential-vault.js';
import type { TenancyNeeds } from './needs.js';

type OwnVersion = Omit<VersionRef, 'ownerId'>;

/** The provider credentials of one owner. What was committed counts, also before it is made active. */
export class TenantCredentials {
  private readonly vault: CredentialVault;

  constructor(
    private readonly needs: TenancyNeeds,
    private readonly ownerId: string,
  ) {
    this.vault = needs.vault;
  }

  stage(version: OwnVersion, value: Secret, condition?: 'only if first'): Promise<boolean> {
    return this.vault.stage({ ...version, ownerId: this.ownerId }, value, condition);
  }

  activate(version: OwnVersion, position: bigint): Promise<Activation> {
    return this.vault.activate({ ...version, ownerId: this.ownerId }, position);
  }

  discard(version: OwnVersion): Promise<void> {
    return this.vault.discard({ ...version, ownerId: this.ownerId });
  }

  has(provider: string): Promise<boolean> {
    return usableCredentials(this.needs.eventSourcing.store, this.vault).has(this.ownerId, provider);
  }

  /** The credential of this id and the position of its latest enrollment, once what is staged for it is resolved. */
  async find(credentialId: string) {
    const known = await this.vault.find(this.ownerId, credentialId);
    if (!known) return undefined;
    await resolveAllStaged(this.ownerId, known.provider, { store: this.needs.eventSourcing.store, vault: this.vault });
    return this.vault.find(this.ownerId, credentialId);
  }

  destroyRetired(version: OwnVersion): Promise<void> {
    return this.vault.destroyRetired({ ...version, ownerId: this.ownerId });
  }

  /** Destroys every version that an enrollment up to this position brought. */
  destroy(provider: string, upTo: bigint): Promise<void> {
    return this.vault.destroy(this.ownerId, provider, upTo);
  }

  destroyAll(): Promise<void> {
    return this.vault.destroyOwner(this.ownerId);
  }
}
