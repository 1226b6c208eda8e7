import { Mutex } from 'async-mutex';
import type { ClientBase } from 'pg';
import { z } from 'zod';
import { sql, type Sql } from '../../../projections/kit/sql.js';
import type { StoredEvent } from '../../application/ports/event-store.js';
import {
  CheckpointMoved,
  type ParkedReaction,
  type ReactionJournal,
} from '../../application/ports/reaction-journal.js';
import type { SessionSettings } from './database.js';
import { runTogether, type Outcome } from './pipeline.js';

/** The checkpoint that all reactions of an installation share. */
const setName = 'reactions';
const answerWithinMs = 30_000;

/**
 * Settings of the session that the journal is written in.
 * Why not durable: effects are idempotent, so a checkpoint lost in a crash only means that some happen again.
 */
export const journalSession: SessionSettings = { durable: false, statementTimeoutMs: answerWithinMs };

const parkedRow = z.object({
  reaction: z.string(),
  eventId: z.string(),
  stream: z.string(),
  revision: z.coerce.number(),
});

/** The journal of the reactions, over the connection that holds their lease. */
export class PostgresReactionJournal implements ReactionJournal {
  private readonly mutex = new Mutex();

  constructor(private readonly client: ClientBase) {}

  async checkpoint(): Promise<bigint> {
    const [, outcome] = await this.run(
      sql`insert into palimpsest.reaction_checkpoints (name, position) values (${setName}, -1) on conflict do nothing`,
      sql`select position from palimpsest.reaction_checkpoints where name = ${setName}`,
    );
    return z.coerce.bigint().parse(outcome?.rows[0]?.['position']);
  }

  async advance(from: bigint, to: bigint): Promise<void> {
    const [outcome] = await this.run(sql`
      update palimpsest.reaction_checkpoints set position = ${to} where name = ${setName} and position = ${from}`);
    if (outcome?.count !== 1) throw new CheckpointMoved();
  }

  async park(reaction: string, { id, stream, revision, position, type }: StoredEvent, fault: string): Promise<void> {
    await this.run(sql`
      insert into palimpsest.parked_reactions
        (set_name, reaction, event_id, stream, revision, position, event_type, fault)
      values (${setName}, ${reaction}, ${id}, ${stream}, ${revision}, ${position}, ${type}, ${fault})
      on conflict do nothing`);
  }

  async unpark(reaction: string, eventId: string): Promise<void> {
    await this.run(sql`
      delete from palimpsest.parked_reactions
      where set_name = ${setName} and reaction = ${reaction} and event_id = ${eventId}`);
  }

  async parked(): Promise<readonly ParkedReaction[]> {
    const [outcome] = await this.run(sql`
      select reaction, event_id as "eventId", stream, revision from palimpsest.parked_reactions
      where set_name = ${setName} order by position`);
    return z.array(parkedRow).parse(outcome?.rows);
  }

  private run(...statements: readonly Sql[]): Promise<readonly Outcome[]> {
    return this.mutex.runExclusive(() => runTogether(this.client, statements, answerWithinMs));
  }
}
