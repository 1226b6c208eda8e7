import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import {
  chainFault,
  chainedEvent,
  chainStart,
  type ChainEnd,
  type ChainFault,
} from '../../application/audit/hash-chain.js';
import { UsageError } from './usage-error.js';

/** One tenant's chain in an export. */
export interface VerifiedChain extends ChainEnd {
  readonly ownerId: string;
  readonly events: number;
}

/** The first line that does not fit. `line`: it is no exported event; `head`: the chain ends elsewhere than expected. */
export interface BrokenLine {
  readonly fault: ChainFault | 'line' | 'head';
  readonly line: number;
  readonly id: string | null;
  readonly position: string | null;
}

export interface ExportReport {
  readonly ok: boolean;
  readonly chains: readonly VerifiedChain[];
  readonly broken: BrokenLine | null;
}

export interface Expectation {
  /** Hash of the event before the first, for an export that was begun in the middle of one tenant's chain. */
  readonly after?: string | undefined;
  /** Hash that the one tenant's chain must end with: without it, nobody can see that the last lines are missing. */
  readonly head?: string | undefined;
}

/** Checks exported events line by line, with nothing but the file: every tenant's chain from its first event on. */
export async function verifyExport(lines: AsyncIterable<string>, { after, head }: Expectation): Promise<ExportReport> {
  const chains = new Map<string, VerifiedChain>();
  const report = (broken: BrokenLine | null) => ({ ok: broken === null, chains: [...chains.values()], broken });
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line === '') continue;
    const event = eventIn(line);
    if (!event) return report({ fault: 'line', line: number, id: null, position: null });
    const { id, position, hash, ownerId } = event;
    const before = chains.get(ownerId);
    const fault = chainFault(before ?? { ...chainStart, hash: after ?? chainStart.hash }, event);
    if (fault) return report({ fault, line: number, id, position });
    chains.set(ownerId, { ownerId, hash, position, events: (before?.events ?? 0) + 1 });
  }
  if ((head !== undefined || after !== undefined) && chains.size > 1) {
    throw new UsageError('--after and --head are for the export of one tenant; this one has several.');
  }
  const [only] = chains.values();
  const endsElsewhere = head !== undefined && (only?.hash ?? after) !== head;
  return report(endsElsewhere ? { fault: 'head', line: number, id: null, position: only?.position ?? null } : null);
}

function eventIn(line: string) {
  try {
    return chainedEvent.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

const meanings: Readonly<Record<BrokenLine['fault'], string>> = {
  line: 'is no exported event: cut off, or edited',
  digest: 'was changed: its data or metadata are not what was digested',
  hash: 'does not follow the event before it: one was changed, moved, taken out or put in',
  columns: 'was changed: who, when or why is not what its metadata say',
  order: 'is not in the order of the log',
  head: 'is the last, and the chain should end elsewhere: the end is missing',
};

/** Checks a file (`-`: standard input), prints what it found, and answers the exit code. */
export async function printVerification(
  file: string,
  { json, ...expected }: Expectation & { readonly json?: boolean },
  print: (line: string) => void,
): Promise<number> {
  const report = await verifyExport(linesOf(file), expected);
  if (json) print(JSON.stringify(report));
  else {
    for (const { ownerId, events, position, hash } of report.chains)
      print(`${ownerId}: ${events} events fit, up to position ${position}, hash ${hash}`);
    const { broken } = report;
    if (broken)
      print(`Line ${broken.line}${broken.id === null ? '' : ` (event ${broken.id})`} ${meanings[broken.fault]}.`);
    else print('Everything fits.');
  }
  return report.ok ? 0 : 1;
}

async function* linesOf(file: string): AsyncIterable<string> {
  try {
    const input = file === '-' ? process.stdin : createReadStream(file);
    yield* createInterface({ input, crlfDelay: Infinity });
  } catch (fault) {
    if (fault instanceof Error && 'syscall' in fault) throw new UsageError(`${file} cannot be read.`);
    throw fault;
  }
}
