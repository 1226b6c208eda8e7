import type { Client } from 'pg';
import type { Logger } from '../../application/ports/telemetry.js';
import { connectAlone, type SessionSettings } from './database.js';
import { pause } from '../../application/kernel/concurrency/repeat-every.js';

/** How often a stand-by asks whether it may take over. */
const askEveryMs = 500;
const firstPauseMs = 100;
const longestPauseMs = 2_000;
/** After a term that lasted this long, the first pause is short again. */
const goodTermMs = 10_000;

export interface LeaderLease {
  /** True while this process holds the lease. */
  readonly active: boolean;
  /** Gives the lease up; a stand-by elsewhere takes over. */
  close(): Promise<void>;
}

export interface LeadNeeds {
  /** The database owner's URL. */
  readonly url: string;
  readonly lock: readonly [number, number];
  /** For the log. */
  readonly name: string;
  readonly log: Logger;
  readonly settings?: SessionSettings;
}

/**
 * Runs terms in one process per database at a time; other processes stand by. A term ends with a fault, or when `ended` is
 * aborted because its connection is lost or the lease given up; then the next begins, here or elsewhere, until closed.
 * Why an advisory lock: it ends with its connection.
 */
export function runAsLeader(
  needs: LeadNeeds,
  term: (client: Client, ended: AbortSignal) => Promise<void>,
): LeaderLease {
  const { url, lock, name, log, settings = {} } = needs;
  const stop = new AbortController();
  let active = false;

  async function standBy(): Promise<void> {
    const client = await connectAlone(url, settings, log);
    const lost = new AbortController();
    client.on('end', () => lost.abort());
    const ended = AbortSignal.any([stop.signal, lost.signal]);
    try {
      if (!(await locked(client, ended))) return;
      active = true;
      log.info({ lead: name }, 'active');
      await term(client, ended);
    } finally {
      active = false;
      await client.end().catch(() => undefined);
    }
  }

  async function locked(client: Client, ended: AbortSignal): Promise<boolean> {
    while (!ended.aborted) {
      const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1, $2) as got', [...lock]);
      if (rows[0]?.got === true) return true;
      await pause(askEveryMs, ended);
    }
    return false;
  }

  async function run(): Promise<void> {
    let wait = firstPauseMs;
    while (!stop.signal.aborted) {
      const began = performance.now();
      try {
        await standBy();
      } catch (fault) {
        const kind = fault instanceof Error ? fault.constructor.name : typeof fault;
        log.warn({ lead: name, fault: kind }, 'a term ended, another begins');
      }
      wait = performance.now() - began > goodTermMs ? firstPauseMs : Math.min(wait * 2, longestPauseMs);
      await pause(wait, stop.signal);
    }
  }

  const running = run();
  return {
    get active() {
      return active;
    },
    async close() {
      stop.abort();
      await running;
    },
  };
}
