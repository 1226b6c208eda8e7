import type { ClientBase } from 'pg';

/** Runs work between `begin` and `commit`; a fault undoes it. The connection belongs to the caller alone. */
export async function inTransaction<Result>(client: ClientBase, work: () => Promise<Result>): Promise<Result> {
  await client.query('begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (fault) {
    // When the connection is gone, so is the transaction; the fault that counts is the first one.
    await client.query('rollback').catch(() => undefined);
    throw fault;
  }
}
