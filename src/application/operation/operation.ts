import type { z } from 'zod';
import type { Refusal, RefusalCode } from '../../domain/kernel/refusal.js';
import type { PadRole, Role } from '../../domain/kernel/roles.js';
import type { OperationContext, Powers } from './context.js';

/** One page of a list. `nextCursor` is null on the last. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
  /** Ranges of the list's own numbering, within this page, whose items are known to be lost. */
  readonly lost?: readonly { readonly from: number; readonly to: number }[];
}

/** Commands change something, queries and lists read, streams read without end in one reply, events are sent as they happen. */
export type Kind = 'command' | 'query' | 'list' | 'stream' | 'events';

/** An event as it is sent: `id` is the position to resume after, `event` a dotted name in the past tense. */
export interface LiveEvent {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** Events from a position on, until `stopped`; when there can be no more of them, `open` returns why. */
export interface LiveSource {
  readonly after: bigint;
  readonly open: (stopped: AbortSignal) => AsyncGenerator<LiveEvent, string>;
}

/** What `run` answers, by kind: a value, a page of values, a stream of values that is never held in memory whole, or events. */
type Answer<K extends Kind, Value> = K extends 'list'
  ? Page<Value>
  : K extends 'stream'
    ? AsyncIterable<Value>
    : K extends 'events'
      ? LiveSource
      : Value;

export interface Declaration<
  K extends Kind,
  Input extends z.ZodObject,
  Output extends z.ZodType,
  Uses extends keyof Powers,
> {
  /** `family.verb`: every door derives its own spelling from it. */
  readonly name: string;
  /**
   * The name before the operation was renamed: idempotency keys stay recorded under it, and it stays an alias on the command
   * line and in the SDK.
   */
  readonly recordedAs?: string;
  readonly kind: K;
  /** One sentence, for API documents, tool lists and `--help`. */
  readonly summary: string;
  /** Method and path below the server's root; `{names}` are fields of the input. */
  readonly http: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /v1/${string}`;
  readonly scope: string;
  /** Only these roles may call it. */
  readonly roles?: readonly Role[];
  /** A strict object: unknown fields are refused, not ignored. */
  readonly input: Input;
  /** The answer, or one item of it for lists, streams and events (`{id, event, data}`). */
  readonly output: Output;
  /** The codes it answers with by its own decision; those of the gateway itself are understood. */
  readonly refuses: readonly RefusalCode[];
  /** A document of its own lists its codes: it answers with `refuses` and the four that no operation is without. */
  readonly codes?: 'closed';
  /** Answers 201 instead of 200. */
  readonly creates?: true;
  /** False: replies without waiting for the read models (hot paths). */
  readonly awaitsProjection?: false;
  /** Powers beyond the caller's tenant, and services of the installation; `run` gets these and no others. */
  readonly uses?: readonly Uses[];
  /** Refuses a request without an idempotency key, or with one that was not made at random. */
  readonly requiresIdempotencyKey?: true;
  /** What makes two requests under one idempotency key the same; without it, the whole input. Never a secret. */
  readonly fingerprint?: (input: z.output<Input>) => unknown;
  /** A key that is bound to a scratchpad must be bound in this role. */
  readonly actsAs?: PadRole;
  /** A tool for agents: it acts on the scratchpad that the request is bound to, and never takes its id. */
  readonly tool?: { readonly type: 'scratchpad' };
  /** A POST that replaces or takes away what was there, which other methods say by themselves. */
  readonly replaces?: true;
  /** The entity tag of an answer, for `If-Match` (RFC 9110). */
  readonly etag?: (data: z.output<Output>) => string;
  run(
    input: z.output<Input>,
    context: OperationContext,
    powers: Pick<Powers, Uses>,
  ): Promise<Answer<K, z.input<Output>> | Refusal>;
}

/** What the registry, the gateway and the doors know of an operation: its declaration, and a `run` they call with parsed input. */
export interface Operation extends Omit<
  Declaration<Kind, z.ZodObject, z.ZodType, keyof Powers>,
  'run' | 'etag' | 'fingerprint'
> {
  readonly etag?: (data: unknown) => string;
  readonly fingerprint?: (input: unknown) => unknown;
  run(input: unknown, context: OperationContext, powers: object): Promise<unknown>;
}

/** An operation whose type keeps its declaration. Why: the SDK derives its types from it. */
export interface Declared<
  Name extends string,
  Http extends Operation['http'],
  K extends Kind,
  Input extends z.ZodObject,
  Output extends z.ZodType,
  FormerName extends string = never,
> extends Operation {
  readonly name: Name;
  readonly recordedAs?: FormerName;
  readonly http: Http;
  readonly kind: K;
  readonly input: Input;
  readonly output: Output;
}

/**
 * Declares an operation once; it then exists on every door.
 *
 * @example
 * export const getThread = operation({ name: 'thread.get', kind: 'query', http: 'GET /v1/threads/{threadId}', … });
 */
export const operation = <
  const Name extends string,
  const Http extends Operation['http'],
  K extends Kind,
  Input extends z.ZodObject,
  const Output extends z.ZodType,
  const Uses extends keyof Powers = never,
  const FormerName extends string = never,
>(
  declaration: Declaration<K, Input, Output, Uses> & {
    readonly name: Name;
    readonly http: Http;
    readonly recordedAs?: FormerName;
  },
): Declared<Name, Http, K, Input, Output, FormerName> =>
  // The gateway parses the input with this very schema before it calls run, so the types meet there and not here.
  declaration as unknown as Declared<Name, Http, K, Input, Output, FormerName>;
