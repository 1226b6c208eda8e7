import { randomUUID } from 'node:crypto';
import { credentialIdOf } from '../../src/application/ports/credential-vault.js';
import { Secret } from '../../src/application/kernel/secret.js';
import type { CredentialVault } from '../../src/application/ports/credential-vault.js';

/** What every vault promises. `later` lets at least these milliseconds pass by the vault's own clock. */
export function vaultContract(
  name: string,
  open: () => { readonly vault: CredentialVault; readonly later: (ms: number) => Promise<void> },
): void {
  describe(`the vault ${name}`, () => {
    const anthropic = (ownerId: string) => ({
      id: randomUUID(),
      ownerId,
      provider: 'anthropic',
      agentId: randomUUID(),
    });
    const owner = () => `user_${randomUUID()}`;
    const valueOf = async (ownerId: string, provider = 'anthropic') =>
      (await open().vault.open(ownerId, provider))?.reveal();

    it('shows nothing of a staged version', async () => {
      const { vault } = open();
      const version = anthropic(owner());
      await vault.stage(version, new Secret('one'));
      expect(await vault.has(version.ownerId, 'anthropic')).toBe(false);
      expect(await valueOf(version.ownerId)).toBeUndefined();
      expect(await vault.staged(version.ownerId, 'anthropic')).toEqual([
        { ...version, ageMs: expect.any(Number) as number },
      ]);
    });

    it('gives an active version its value back, to its owner and provider only', async () => {
      const { vault } = open();
      const version = anthropic(owner());
      await vault.stage(version, new Secret('one é \u{1F511}'));
      expect(await vault.activate(version, 10n)).toEqual({ status: 'active', previousVersionId: undefined });
      expect(await vault.has(version.ownerId, 'anthropic')).toBe(true);
      expect(await valueOf(version.ownerId)).toBe('one é \u{1F511}');
      expect(await valueOf(version.ownerId, 'openai')).toBeUndefined();
      expect(await valueOf(owner())).toBeUndefined();
      expect(await vault.staged(version.ownerId, 'anthropic')).toEqual([]);
    });

    it('lets the version of the later enrollment be the active one, in whatever order they are activated', async () => {
      const { vault } = open();
      for (const order of ['in order', 'crossed']) {
        const [early, late] = [anthropic(`${owner()}-${order}`), anthropic('')];
        const { ownerId } = early;
        const latest = { ...late, ownerId };
        await vault.stage(early, new Secret('early'));
        await vault.stage(latest, new Secret('late'));
        const steps = [() => vault.activate(early, 10n), () => vault.activate(latest, 20n)];
        for (const step of order === 'crossed' ? steps.reverse() : steps) await step();
        expect(await valueOf(ownerId)).toBe('late');
        expect(await vault.activate(early, 10n)).toEqual({ status: 'retired', previousVersionId: undefined });
        expect(await vault.activate(latest, 20n)).toEqual({ status: 'active', previousVersionId: early.id });
        expect(await valueOf(ownerId)).toBe('late');
      }
    });

    it('seals nothing for an enrollment that was ever begun, if that is asked for', async () => {
      const { vault } = open();
      const [begun, fresh] = [anthropic(owner()), anthropic(owner())];
      const again = { ...begun, id: randomUUID() };
      expect(await vault.stage(begun, new Secret('one'), 'only if first')).toBe(true);
      expect(await vault.stage(again, new Secret('two'), 'only if first')).toBe(false);
      await vault.discard(begun);
      const both = [again, fresh].map((version) => vault.stage(version, new Secret('two'), 'only if first'));
      expect(await Promise.all(both)).toEqual([false, true]);
      expect(await vault.staged(again.ownerId, 'anthropic')).toEqual([]);
      expect(await vault.stage(again, new Secret('two'))).toBe(true);
      expect((await vault.staged(again.ownerId, 'anthropic')).map(({ id }) => id)).toEqual([again.id]);
    });

    it('tells again how a version stands, without changing it, also once it is destroyed', async () => {
      const { vault } = open();
      const [early, late] = [anthropic(owner()), anthropic('')];
      const latest = { ...late, ownerId: early.ownerId };
      for (const version of [early, latest]) await vault.stage(version, new Secret('value'));
      await vault.activate(early, 10n);
      await vault.activate(latest, 20n);
      expect(await vault.activate(early, 10n)).toEqual({ status: 'retired', previousVersionId: undefined });
      expect(await vault.activate(latest, 20n)).toEqual({ status: 'active', previousVersionId: early.id });
      await vault.destroy(early.ownerId, 'anthropic', 20n);
      expect(await vault.activate(latest, 20n)).toEqual({ status: 'gone', previousVersionId: undefined });
      expect(await vault.has(early.ownerId, 'anthropic')).toBe(false);
    });

    it('ends with one active version when many are activated at once', async () => {
      const { vault } = open();
      const ownerId = owner();
      const versions = Array.from({ length: 12 }, () => anthropic(ownerId));
      for (const [place, version] of versions.entries()) await vault.stage(version, new Secret(`value ${place}`));
      await Promise.all(versions.map((version, place) => vault.activate(version, BigInt(100 + ((place * 5) % 12)))));
      const last = versions.findIndex((_, place) => (place * 5) % 12 === 11);
      expect(await valueOf(ownerId)).toBe(`value ${last}`);
    });

    it('discards a staged version, and leaves one alone that an event names', async () => {
      const { vault } = open();
      const [unnamed, named] = [anthropic(owner()), anthropic(owner())];
      await vault.stage(unnamed, new Secret('unnamed'));
      await vault.stage(named, new Secret('named'));
      await vault.activate(named, 10n);
      await vault.discard(unnamed);
      await vault.discard(named);
      expect(await vault.staged(unnamed.ownerId, 'anthropic')).toEqual([]);
      expect(await valueOf(named.ownerId)).toBe('named');
      expect(await vault.activate(unnamed, 20n)).toEqual({ status: 'gone', previousVersionId: undefined });
    });

    it('finds staged versions by their age', async () => {
      const { vault, later } = open();
      const version = anthropic(owner());
      await vault.stage(version, new Secret('one'));
      const mine = async (ageMs: number) =>
        (await vault.stagedLongerThan(ageMs, 1_000)).filter(({ id }) => id === version.id).length;
      expect(await mine(60_000)).toBe(0);
      await later(20);
      expect(await mine(10)).toBe(1);
      await vault.activate(version, 10n);
      expect(await mine(0)).toBe(0);
    });

    it('finds a credential by its id, for its owner only', async () => {
      const { vault } = open();
      const version = anthropic(owner());
      const id = credentialIdOf(version.ownerId, 'anthropic');
      expect(await vault.find(version.ownerId, id)).toBeUndefined();
      await vault.stage(version, new Secret('one'));
      expect(await vault.find(version.ownerId, id)).toEqual({ provider: 'anthropic', latest: undefined });
      await vault.activate(version, 10n);
      expect(await vault.find(version.ownerId, id)).toEqual({ provider: 'anthropic', latest: 10n });
      expect(await vault.find(owner(), id)).toBeUndefined();
    });

    it('destroys what was brought up to a position, and nothing later', async () => {
      const { vault } = open();
      const ownerId = owner();
      const [early, late] = [anthropic(ownerId), anthropic(ownerId)];
      await vault.stage(early, new Secret('early'));
      await vault.activate(early, 10n);
      await vault.destroy(ownerId, 'anthropic', 9n);
      expect(await valueOf(ownerId)).toBe('early');
      await vault.stage(late, new Secret('late'));
      await vault.activate(late, 20n);
      await vault.destroy(ownerId, 'anthropic', 10n);
      expect(await valueOf(ownerId)).toBe('late');
      expect((await vault.activate(late, 20n)).previousVersionId).toBeUndefined();
      await vault.destroy(ownerId, 'anthropic', 20n);
      expect(await vault.has(ownerId, 'anthropic')).toBe(false);
    });

    it('destroys a retired version by itself, never an active one', async () => {
      const { vault } = open();
      const ownerId = owner();
      const [early, late] = [anthropic(ownerId), anthropic(ownerId)];
      for (const [place, version] of [early, late].entries()) {
        await vault.stage(version, new Secret('value'));
        await vault.activate(version, BigInt(10 + place));
      }
      await vault.destroyRetired(late);
      await vault.destroyRetired(early);
      expect(await valueOf(ownerId)).toBe('value');
      expect((await vault.activate(early, 10n)).status).toBe('gone');
    });

    it('destroys everything of an owner, staged versions too, and nothing of others', async () => {
      const { vault } = open();
      const [gone, other] = [anthropic(owner()), anthropic(owner())];
      const staged = { ...anthropic(gone.ownerId), provider: 'openai' };
      for (const version of [gone, other, staged]) await vault.stage(version, new Secret('value'));
      for (const version of [gone, other]) await vault.activate(version, 10n);
      await vault.destroyOwner(gone.ownerId);
      expect(await vault.has(gone.ownerId, 'anthropic')).toBe(false);
      expect(await vault.staged(gone.ownerId, 'openai')).toEqual([]);
      expect(await valueOf(other.ownerId)).toBe('value');
    });
  });
}
