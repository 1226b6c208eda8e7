import { credentialIdOf } from '../../application/ports/credential-vault.js';
import type { Secret } from '../../application/kernel/secret.js';
import type {
  Activation,
  StagedVersion,
  CredentialVault,
  VersionRef,
} from '../../application/ports/credential-vault.js';

interface Version {
  readonly ref: VersionRef;
  readonly value: Secret;
  readonly stagedAt: number;
  status: 'staged' | 'active' | 'retired';
  position: bigint | undefined;
}

/** The vault's rules without a database. Values are kept as they are, for as long as the process lives. */
export class MemoryVault implements CredentialVault {
  private versions: Version[] = [];
  private readonly begun = new Set<string>();

  /** `now` counts milliseconds; tests bring their own. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  async stage(ref: VersionRef, value: Secret, condition?: 'only if first'): Promise<boolean> {
    if (condition === 'only if first' && this.begun.has(ref.agentId)) return false;
    if (this.versions.some((version) => version.ref.id === ref.id)) throw new Error('There is such a version already.');
    this.versions.push({ ref, value, stagedAt: this.now(), status: 'staged', position: undefined });
    this.begun.add(ref.agentId);
    return true;
  }

  async activate({ id, ownerId, provider }: VersionRef, position: bigint): Promise<Activation> {
    const mine = this.of(ownerId, provider);
    const version = mine.find(({ ref }) => ref.id === id);
    if (version?.status === 'staged') {
      const active = mine.find(({ status }) => status === 'active');
      version.position = position;
      if (active && (active.position ?? -1n) > position) version.status = 'retired';
      else {
        if (active) active.status = 'retired';
        version.status = 'active';
      }
    }
    return this.standingOf(id, mine, position);
  }

  async discard({ id, ownerId }: VersionRef): Promise<void> {
    this.drop(({ ref, status }) => ref.id === id && ref.ownerId === ownerId && status === 'staged');
  }

  async has(ownerId: string, provider: string): Promise<boolean> {
    return this.of(ownerId, provider).some(({ status }) => status === 'active');
  }

  async staged(ownerId: string, provider: string): Promise<readonly StagedVersion[]> {
    return this.stillStaged(this.of(ownerId, provider));
  }

  async stagedLongerThan(ageMs: number, limit: number): Promise<readonly StagedVersion[]> {
    return this.stillStaged(this.versions)
      .filter((version) => version.ageMs > ageMs)
      .slice(0, limit);
  }

  async find(ownerId: string, credentialId: string) {
    const mine = this.versions.filter(
      ({ ref }) => ref.ownerId === ownerId && credentialIdOf(ref.ownerId, ref.provider) === credentialId,
    );
    const [first] = mine;
    if (!first) return undefined;
    const latest = mine
      .map(({ position }) => position)
      .reduce((a, b) => (b !== undefined && (a === undefined || b > a) ? b : a), undefined);
    return { provider: first.ref.provider, latest };
  }

  async open(ownerId: string, provider: string): Promise<Secret | undefined> {
    return this.of(ownerId, provider).find(({ status }) => status === 'active')?.value;
  }

  async destroyRetired({ id, ownerId }: VersionRef): Promise<void> {
    this.drop(({ ref, status }) => ref.id === id && ref.ownerId === ownerId && status === 'retired');
  }

  async destroy(ownerId: string, provider: string, upTo: bigint): Promise<void> {
    this.drop(
      ({ ref, position }) =>
        ref.ownerId === ownerId && ref.provider === provider && position !== undefined && position <= upTo,
    );
  }

  async destroyOwner(ownerId: string): Promise<void> {
    this.drop(({ ref }) => ref.ownerId === ownerId);
  }

  private of(ownerId: string, provider: string): readonly Version[] {
    return this.versions.filter(({ ref }) => ref.ownerId === ownerId && ref.provider === provider);
  }

  private standingOf(id: string, mine: readonly Version[], position: bigint): Activation {
    const status = mine.find(({ ref }) => ref.id === id)?.status;
    const [earlier] = mine
      .filter((one) => one.ref.id !== id && one.position !== undefined && one.position <= position)
      .sort((a, b) => ((a.position ?? 0n) < (b.position ?? 0n) ? 1 : -1));
    return {
      status: status === undefined || status === 'staged' ? 'gone' : status,
      previousVersionId: earlier?.ref.id,
    };
  }

  private stillStaged(versions: readonly Version[]): readonly StagedVersion[] {
    return versions
      .filter(({ status }) => status === 'staged')
      .map(({ ref, stagedAt }) => ({ ...ref, ageMs: this.now() - stagedAt }));
  }

  private drop(which: (version: Version) => boolean): void {
    this.versions = this.versions.filter((version) => !which(version));
  }
}
