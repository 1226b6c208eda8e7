import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { sha256 } from '../../application/kernel/canonical-json.js';
import { derivedUuid } from '../../application/kernel/ids.js';
import type { Operation } from '../../application/operation/operation.js';
import { operations } from '../../application/registry.js';
import { refusalCodes } from '../../domain/kernel/refusal.js';
import { statuses } from '../statuses.js';
import type { Mapping } from './notebook-map.js';
import { send } from './send.js';
import type { Settings } from './settings.js';
import { UsageError } from './usage-error.js';

/** Where the notebooks are. */
export interface OldNotebooks {
  read(threadId: string): Promise<Buffer | undefined>;
  remove(threadId: string, text: Buffer): Promise<boolean>;
  threadIds(): AsyncIterable<string>;
}

/** What became of the notebooks; `conflicts` and `failed` are still where they were. */
export interface ImportCounts {
  mapped: number;
  imported: number;
  bytes: number;
  /** Not there: imported before, or never written. */
  absent: number;
  /** The scratchpad has another content, which is left alone; or the notebook changed during the import. */
  conflicts: number;
  failed: number;
  /** There, and not in the map. */
  unmapped: number;
}

interface Import {
  readonly notebooks: OldNotebooks;
  readonly map: readonly Mapping[];
  readonly settings: Settings;
  readonly dryRun: boolean;
  /** One line for each notebook, and for what else an operator should know. */
  readonly report: (line: string) => void;
}

/**
 * Brings old notebooks into scratchpads by the product's own operations. Every step is known by a key that derives from the
 * notebook, so that a second run finds what the first has done; a notebook is removed once its text was read back.
 */
export async function importNotebooks({ notebooks, map, settings, dryRun, report }: Import): Promise<ImportCounts> {
  const counts = { mapped: map.length, imported: 0, bytes: 0, absent: 0, conflicts: 0, failed: 0, unmapped: 0 };
  for (const [place, mapping] of map.entries()) {
    const say = (what: string) => report(`${place + 1}/${map.length} ${mapping.notebook}: ${what}`);
    try {
      const text = await notebooks.read(mapping.notebook);
      if (!text) {
        counts.absent += 1;
        say('not there');
        continue;
      }
      if (!isUtf8(text)) throw new NotImported('is not UTF-8', 'failed');
      const call = callerOf(await settingsOf(mapping, settings));
      if (dryRun) await tryOut(mapping, text.toString(), call);
      else {
        await bringOver(mapping, text.toString(), call);
        if (!(await notebooks.remove(mapping.notebook, text)))
          throw new NotImported('was changed during the import, and stays', 'conflicts');
      }
      counts.imported += 1;
      counts.bytes += text.length;
      say(dryRun ? `${text.length} bytes to import` : `${text.length} bytes imported`);
    } catch (fault) {
      if (!(fault instanceof NotImported)) throw fault;
      counts[fault.counted] += 1;
      say(fault.message);
    }
  }
  const named = new Set(map.map(({ notebook }) => notebook));
  const unmapped = new Set<string>();
  for await (const threadId of notebooks.threadIds()) if (!named.has(threadId)) unmapped.add(threadId);
  for (const threadId of unmapped) report(`${threadId}: not in the map`);
  return { ...counts, unmapped: unmapped.size };
}

/** Why a notebook stays where it is. */
class NotImported extends Error {
  constructor(
    message: string,
    readonly counted: 'conflicts' | 'failed',
  ) {
    super(message);
  }
}

const keyOf = (step: string, { notebook }: Mapping, ...more: readonly string[]): string =>
  derivedUuid('import notebooks', step, notebook, ...more);

type Call = (name: string, input: Readonly<Record<string, unknown>>, headers?: Record<string, string>) => Promise<Data>;
type Data = Readonly<Record<string, unknown>> | Refused;

class Refused {
  constructor(
    readonly code: (typeof refusalCodes)[number],
    readonly message: string,
  ) {}
}

async function bringOver(mapping: Mapping, content: string, call: Call): Promise<void> {
  const scratchpadId = await padFor(await threadFor(mapping, call), mapping, call);
  const key = keyOf('content', mapping, sha256(content));
  const set = await call(
    'scratchpad.content.set',
    { scratchpadId, content, idempotencyKey: key },
    { 'if-match': '"r0"' },
  );
  if (set instanceof Refused && set.code !== 'conflict') throw notImported(set);
  const kept = done(await call('scratchpad.content.get', { scratchpadId }));
  if (kept['content'] !== content) throw otherContent();
}

async function threadFor(mapping: Mapping, call: Call): Promise<string> {
  if (mapping.threadId !== undefined) return mapping.threadId;
  const title = mapping.title ?? mapping.notebook;
  const made = done(await call('thread.create', { title, idempotencyKey: keyOf('thread', mapping, title) }));
  return String(made['id']);
}

async function padFor(threadId: string, mapping: Mapping, call: Call): Promise<string> {
  const found = await padOf(threadId, call);
  if (found !== undefined) return found;
  const made = await call('scratchpad.create', { threadId, idempotencyKey: keyOf('scratchpad', mapping, threadId) });
  if (!(made instanceof Refused)) return String(made['id']);
  const other = made.code === 'conflict' ? await padOf(threadId, call) : undefined;
  if (other === undefined) throw notImported(made);
  return other;
}

async function padOf(threadId: string, call: Call): Promise<string | undefined> {
  const found = await call('scratchpad.resolve', { threadId });
  if (!(found instanceof Refused)) return String(found['id']);
  if (found.code === 'not_found') return undefined;
  throw notImported(found);
}

/** Asks what the import would meet, and changes nothing. */
async function tryOut({ threadId }: Mapping, content: string, call: Call): Promise<void> {
  if (threadId === undefined) {
    done(await call('me.get', {}));
    return;
  }
  done(await call('thread.get', { threadId }));
  const scratchpadId = await padOf(threadId, call);
  if (scratchpadId === undefined) return;
  const kept = done(await call('scratchpad.content.get', { scratchpadId }));
  if (kept['revision'] !== 0 && kept['content'] !== content) throw otherContent();
}

const otherContent = () => new NotImported('its scratchpad has another content, and stays as it is', 'conflicts');

function done(data: Data): Readonly<Record<string, unknown>> {
  if (data instanceof Refused) throw notImported(data);
  return data;
}

const notImported = ({ code, message }: Refused) => new NotImported(`${code}: ${message}`, 'failed');

async function settingsOf({ keyFile }: Mapping, settings: Settings): Promise<Settings> {
  if (keyFile === undefined) return settings;
  try {
    return { ...settings, key: (await readFile(keyFile, 'utf8')).trim() };
  } catch {
    throw new UsageError(`${keyFile} cannot be read.`);
  }
}

const envelope = z.object({
  data: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ code: z.enum(refusalCodes), message: z.string() }).optional(),
});

const tries = 6;
const pauseMs = 500;

/** Calls operations by their names; what may succeed later is tried again a few times, under the same key. */
const callerOf =
  (settings: Settings): Call =>
  async (name, input, headers = {}) => {
    for (let attempt = 1; ; attempt += 1) {
      const { text } = await send(named(name), input, settings, headers);
      const { data, error } = envelopeOf(text);
      if (data) return data;
      if (!error) throw new NotImported('what answered is no Palimpsest', 'failed');
      if (error.code === 'authentication_failed') throw new UsageError('The server does not know this key.');
      if (!statuses[error.code].retryable || attempt === tries) return new Refused(error.code, error.message);
      await pause(pauseMs * attempt);
    }
  };

function envelopeOf(text: string): z.output<typeof envelope> {
  try {
    return envelope.safeParse(JSON.parse(text)).data ?? {};
  } catch {
    return {};
  }
}

function named(name: string): Operation {
  const found = operations.find((operation) => operation.name === name);
  if (!found) throw new Error(`There is no operation ${name}.`);
  return found;
}
