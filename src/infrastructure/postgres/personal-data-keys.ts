import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { sql } from '../../../projections/kit/sql.js';
import { OwnerErased } from '../../application/faults/errors.js';
import type { PersonalDataKey, PersonalDataKeys } from '../../application/ports/personal-data-keys.js';
import { StartupError } from '../startup-error.js';
import type { Statements } from './database.js';
import { holdMinimums, leastKek, personalDataKeysMinimum } from './kek-minimums.js';
import { kekIdOf, newDataKey, personalDataKey, unwrap, wrap } from './sealing.js';

/** Time after which a key is read again, so that its destruction is known in every process within 5 s. */
const trustMs = 4_000;
const cachedKeys = 50_000;

const keyRow = z.object({ ownerId: z.string(), kekId: z.string(), wrapped: z.instanceof(Buffer).nullable() });
type KeyRow = z.output<typeof keyRow>;

const columns = sql`owner_id as "ownerId", kek_id as "kekId", wrapped`;

/** This process would wrap new data keys under a KEK that was rotated away. */
class KekRotatedAway extends Error {
  constructor() {
    super('The current key encryption key was rotated away: no data key can be made with it.');
  }
}

class UnusablePersonalDataKey extends Error {
  constructor() {
    super('The owner’s data key does not unwrap: it was altered, or wrapped by another KEK.');
  }
}

const unusable = (): never => {
  throw new UnusablePersonalDataKey();
};
const unusableKey: PersonalDataKey = { seal: unusable, open: unusable };

/** Keeps the owners' data keys, wrapped, in Postgres. `now` counts milliseconds and never goes back. */
export const makePersonalDataKeys = (
  system: Statements,
  keks: Keks,
  now: () => number = () => performance.now(),
): PersonalDataKeys => new PostgresPersonalDataKeys(system, known(keks), now);

class PostgresPersonalDataKeys implements PersonalDataKeys {
  /** Only keys that exist are remembered: an owner without one may be given it at any moment by another process. */
  private readonly cache = new LRUCache<string, { readonly key: PersonalDataKey; readonly until: number }>({
    max: cachedKeys,
  });
  private readonly kekId: string;

  constructor(
    private readonly system: Statements,
    private readonly keks: KnownKeks,
    private readonly now: () => number,
  ) {
    this.kekId = kekIdOf(keks.current);
  }

  async sealingKey(ownerId: string): Promise<PersonalDataKey> {
    const remembered = this.remembered(ownerId);
    if (remembered) return remembered;
    const [stored] = await this.stored([ownerId]);
    return stored?.[1] ?? this.made(ownerId);
  }

  async openingKeys(ownerIds: ReadonlySet<string>): Promise<ReadonlyMap<string, PersonalDataKey>> {
    const keys = new Map<string, PersonalDataKey>();
    const unknown: string[] = [];
    for (const ownerId of ownerIds) {
      const remembered = this.remembered(ownerId);
      if (remembered) keys.set(ownerId, remembered);
      else unknown.push(ownerId);
    }
    if (unknown.length > 0) for (const [ownerId, key] of await this.stored(unknown)) keys.set(ownerId, key);
    return keys;
  }

  /** The row stays as a tombstone, also for an owner who never had a key: none can be made for them any more. */
  async destroy(ownerId: string): Promise<void> {
    await this.system.run(sql`
      insert into palimpsest.subject_keys (owner_id, kek_id, wrapped, destroyed_at)
      values (${ownerId}, ${this.kekId}, null, now())
      on conflict (owner_id) do update set wrapped = null, destroyed_at = coalesce(subject_keys.destroyed_at, now())`);
    this.cache.delete(ownerId);
  }

  private remembered(ownerId: string): PersonalDataKey | undefined {
    const entry = this.cache.get(ownerId);
    return entry && this.now() < entry.until ? entry.key : undefined;
  }

  /** `askedAt`: from when on the answer counts; a destruction may follow at any time after it. */
  private remember({ ownerId, kekId, wrapped }: KeyRow, askedAt: number): PersonalDataKey | undefined {
    this.cache.delete(ownerId);
    if (!wrapped) return undefined;
    const dataKey = unwrapped(this.keks.byId.get(kekId), wrapped, ownerId);
    // Among the keys of many owners one that does not unwrap must not keep the others from being read.
    if (!dataKey) return unusableKey;
    const key = personalDataKey(dataKey);
    this.cache.set(ownerId, { key, until: askedAt + trustMs });
    return key;
  }

  private async made(ownerId: string): Promise<PersonalDataKey> {
    const askedAt = this.now();
    const { current, number } = this.keks;
    const [, , outcome] = await this.system.run(
      holdMinimums,
      sql`insert into palimpsest.subject_keys (owner_id, kek_id, wrapped)
        select ${ownerId}, ${this.kekId}, ${wrap(current, newDataKey(), ownerId)}::bytea
        where ${number}::integer >= ${leastKek(personalDataKeysMinimum)} on conflict do nothing`,
      sql`select ${columns} from palimpsest.subject_keys where owner_id = ${ownerId}`,
    );
    const [row] = outcome?.rows ?? [];
    if (!row) throw new KekRotatedAway();
    const key = this.remember(keyRow.parse(row), askedAt);
    if (!key) throw new OwnerErased();
    return key;
  }

  private async stored(ownerIds: readonly string[]): Promise<readonly (readonly [string, PersonalDataKey])[]> {
    const askedAt = this.now();
    const [outcome] = await this.system.run(
      sql`select ${columns} from palimpsest.subject_keys where owner_id = any(${ownerIds})`,
    );
    return (outcome?.rows ?? []).flatMap((row) => {
      const parsed = keyRow.parse(row);
      const key = this.remember(parsed, askedAt);
      return key ? [[parsed.ownerId, key] as const] : [];
    });
  }
}

function unwrapped(kek: Buffer | undefined, wrapped: Buffer, ownerId: string): Buffer | undefined {
  try {
    return kek && unwrap(kek, wrapped, ownerId);
  } catch {
    return undefined; // The caller hands out a key that cannot be used.
  }
}

interface Kek {
  readonly number: number;
  readonly key: Buffer;
}

/** One KEK, or several of which one is current. */
type Keks = Buffer | { readonly current: Kek; readonly all: readonly Kek[] };

interface KnownKeks {
  readonly current: Buffer;
  readonly number: number;
  readonly byId: ReadonlyMap<string, Buffer>;
}

const known = (keks: Keks): KnownKeks => {
  const current = Buffer.isBuffer(keks) ? { number: 1, key: keks } : keks.current;
  const all = Buffer.isBuffer(keks) ? [current] : keks.all;
  return { current: current.key, number: current.number, byId: new Map(all.map(({ key }) => [kekIdOf(key), key])) };
};

const atOnce = 200;

/** Wraps every data key under the current KEK and answers how many were not. What they seal is not touched. */
export async function rewrapPersonalDataKeys(system: Statements, keks: Keks): Promise<number> {
  const { current, byId } = known(keks);
  const kekId = kekIdOf(current);
  for (let rewrapped = 0; ;) {
    const [outcome] = await system.run(
      sql`select ${columns} from palimpsest.subject_keys where wrapped is not null and kek_id <> ${kekId} limit ${atOnce}`,
    );
    const rows = (outcome?.rows ?? []).map((row) => keyRow.parse(row));
    if (rows.length === 0) return rewrapped;
    for (const { ownerId, kekId: wrappedBy, wrapped } of rows) {
      const kek = byId.get(wrappedBy);
      if (!kek || !wrapped) throw new UnusablePersonalDataKey();
      // Compared, so that a key that was destroyed meanwhile does not come back.
      await system.run(sql`
        update palimpsest.subject_keys
        set kek_id = ${kekId}, wrapped = ${wrap(current, unwrap(kek, wrapped, ownerId), ownerId)}
        where owner_id = ${ownerId} and wrapped = ${wrapped}`);
      rewrapped += 1;
    }
  }
}

/** Refuses a start with KEKs that cannot open what is stored. */
export async function assertKekOpens(system: Statements, keks: Keks): Promise<void> {
  const { byId } = known(keks);
  const [outcome] = await system.run(
    sql`select distinct on (kek_id) ${columns} from palimpsest.subject_keys where wrapped is not null`,
  );
  for (const row of outcome?.rows ?? []) {
    const { ownerId, kekId, wrapped } = keyRow.parse(row);
    try {
      const kek = byId.get(kekId);
      if (!kek) throw new UnusablePersonalDataKey();
      if (wrapped) unwrap(kek, wrapped, ownerId);
    } catch {
      throw new StartupError('PALIMPSEST_KEK is not the key that the stored data keys are wrapped with.');
    }
  }
}
