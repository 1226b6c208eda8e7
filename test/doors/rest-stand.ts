import { z } from 'zod';
import type { Caller } from '../../src/application/access/caller.js';
import { makeGateway } from '../../src/application/gateway/gateway.js';
import { operation, type Operation } from '../../src/application/operation/operation.js';
import type { Logger } from '../../src/application/ports/telemetry.js';
import { id, metadata, name, paging, text, time } from '../../src/application/kernel/schemas.js';
import type { Tenants } from '../../src/application/tenancy/tenants.js';
import { refusalCodes, refuse } from '../../src/domain/kernel/refusal.js';
import { makeMetrics } from '../../src/infrastructure/metrics.js';
import { mcpDoor } from '../../src/interfaces/mcp/door.js';
import { startHttpServer, type HttpServer } from '../../src/interfaces/http/server.js';
import { restDoor } from '../../src/interfaces/rest/door.js';

/** A door with a small registry of its own behind it: the real gateway, and operations that need no backend. */
export interface Stand {
  readonly server: HttpServer;
  /** What was logged, oldest first. */
  readonly logged: readonly Readonly<Record<string, unknown>>[];
  /** Names of the operations that ran, oldest first. */
  readonly ran: readonly string[];
  /** Lets the operation `note.wait` end. */
  readonly release: () => void;
}

export const goodKey = 'plm_good';
/** A key that lacks every scope. */
export const poorKey = 'plm_poor';
export const noteId = 'thread_01j9z3k4m5n6p7q8r9s0t1v2w3';
export const uuid = '3f0b8f0e-7b8e-4c6a-9d52-0f6d2b0c8a11';

const common = { scope: 'threads:write', refuses: [] } as const;

const note = z.object({ id: z.string(), title: z.string(), revision: z.number(), at: time() });
const stored = (title: string) => ({
  id: noteId,
  title,
  revision: 7,
  at: '2026-01-01T00:00:00.000Z',
  secret: 'unseen',
});

export function makeOperations(ran: string[], released: Promise<void>) {
  return [
    operation({
      ...common,
      name: 'note.create',
      kind: 'command',
      creates: true,
      summary: 'Write a note.',
      http: 'POST /v1/notes',
      input: z.strictObject({
        title: name(),
        count: z.number().int().min(0).max(10).optional(),
        urls: z.array(z.url()).max(20).optional(),
        metadata: metadata().optional(),
      }),
      output: note,
      etag: ({ revision }) => `"r${revision}"`,
      async run({ title }) {
        ran.push('note.create');
        return stored(title);
      },
    }),
    operation({
      ...common,
      name: 'note.get',
      kind: 'query',
      summary: 'Read a note.',
      http: 'GET /v1/notes/{noteId}',
      input: z.strictObject({ noteId: id('thread'), loud: z.boolean().default(false), from: z.number().optional() }),
      output: z.object({ id: z.string(), loud: z.boolean(), from: z.number().optional() }),
      refuses: ['not_found'],
      async run({ noteId: sent, loud, from }) {
        ran.push('note.get');
        return sent === noteId ? { id: sent, loud, ...(from !== undefined && { from }) } : refuse('not_found');
      },
    }),
    operation({
      ...common,
      name: 'note.update',
      kind: 'command',
      summary: 'Change a note.',
      http: 'PATCH /v1/notes/{noteId}',
      input: z.strictObject({ noteId: id('thread'), title: name().optional(), fields: z.json().optional() }),
      output: note,
      refuses: ['conflict'],
      async run({ title }, { ifMatch }) {
        ran.push('note.update');
        if (ifMatch !== undefined && ifMatch !== 7) {
          return refuse('conflict', undefined, { reason: 'revision', facts: { revision: 7 } });
        }
        return stored(title ?? 'untitled');
      },
    }),
    operation({
      ...common,
      name: 'note.delete',
      kind: 'command',
      summary: 'Delete a note.',
      http: 'DELETE /v1/notes/{noteId}',
      input: z.strictObject({ noteId: id('thread') }),
      output: z.object({ id: z.string(), deleted: z.literal(true) }),
      async run({ noteId: sent }) {
        ran.push('note.delete');
        return { id: sent, deleted: true as const };
      },
    }),
    operation({
      ...common,
      name: 'note.list',
      kind: 'list',
      summary: 'List notes.',
      http: 'GET /v1/notes',
      input: z.strictObject({ ...paging, like: text(20).optional() }),
      output: note,
      async run({ limit }) {
        ran.push('note.list');
        return { items: [stored(`one of ${limit}`)], nextCursor: 'more' };
      },
    }),
    operation({
      ...common,
      name: 'note.export',
      kind: 'stream',
      summary: 'Export notes.',
      http: 'GET /v1/notes/export',
      input: z.strictObject({ count: z.number().int().default(3), failAt: z.number().int().optional() }),
      output: note,
      async run({ count, failAt }) {
        ran.push('note.export');
        return numbered(count, failAt, ran);
      },
    }),
    operation({
      ...common,
      name: 'note.refuse',
      kind: 'command',
      summary: 'Say no.',
      http: 'POST /v1/refusals',
      input: z.strictObject({ code: z.enum(refusalCodes) }),
      output: z.object({}),
      refuses: refusalCodes,
      async run({ code }) {
        ran.push('note.refuse');
        return refuse(code);
      },
    }),
    operation({
      ...common,
      name: 'note.break',
      kind: 'command',
      summary: 'Break.',
      http: 'POST /v1/faults',
      input: z.strictObject({ secret: z.string().optional() }),
      output: z.object({}),
      async run({ secret }) {
        ran.push('note.break');
        throw Object.assign(new Error(`the driver said ${String(secret)}`), { detail: secret });
      },
    }),
    operation({
      ...common,
      name: 'note.wait',
      kind: 'command',
      summary: 'Wait.',
      http: 'POST /v1/waits',
      input: z.strictObject({}),
      output: z.object({ waited: z.boolean() }),
      async run() {
        ran.push('note.wait');
        await released;
        return { waited: true };
      },
    }),
  ];
}

async function* numbered(count: number, failAt: number | undefined, ran: string[]) {
  try {
    for (let number = 0; number < count; number += 1) {
      if (number === failAt) throw new Error('a row that must stay inside');
      yield stored(`note ${number}`);
    }
  } finally {
    ran.push('note.export ended');
  }
}

const callers: Readonly<Record<string, Caller>> = Object.fromEntries(
  [
    { token: goodKey, scopes: ['threads:write'] },
    { token: poorKey, scopes: [] },
  ].map(({ token, scopes }) => [
    token,
    { userId: 'user_1', workspaceId: 'ws_1', keyId: 'key_1', role: 'member' as const, scopes: new Set(scopes) },
  ]),
);

export async function startStand(
  checks: Readonly<Record<string, () => Promise<void>>> = {},
  more: readonly Operation[] = [],
): Promise<Stand> {
  const ran: string[] = [];
  const logged: Readonly<Record<string, unknown>>[] = [];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const keep =
    (level: string) =>
    (fields: Readonly<Record<string, unknown>>, message: string): void => {
      logged.push({ level, message, ...fields });
    };
  const log: Logger = { info: keep('info'), warn: keep('warn'), error: keep('error') };
  const metrics = makeMetrics();
  const operations = [...makeOperations(ran, released), ...more];
  const authenticate = async (token: string | undefined) => (token === undefined ? undefined : callers[token]);
  // No operation here asks its tenant for anything.
  const tenants = { of: () => ({}) } as unknown as Tenants;
  const gateway = makeGateway({
    authenticate,
    clock: { now: () => new Date(0) },
    metrics,
    logger: log,
    tenants,
    logGuard: { hold: () => undefined },
    watermark: { waitFor: async (position) => position <= 10n },
    cursorKey: Buffer.alloc(32),
    services: absent(),
    projections: absent(),
  });
  const version = '1.2.3';
  const doors = [
    restDoor({ operations, gateway, version }),
    mcpDoor({ operations, gateway, authenticate, log, version, hosts: ['agents.example'] }),
  ];
  const server = await startHttpServer({ doors, log, checks, exposition: metrics }, { host: '127.0.0.1', port: 0 });
  return { server, logged, ran, release };
}

/** A port that no operation here uses: touching it fails the test. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller says which port it stands for
const absent = <Port extends object>(): Port =>
  // Nothing is ever read from it.
  new Proxy({} as Port, {
    get: () => {
      throw new Error('This port has no part in the test.');
    },
  });
