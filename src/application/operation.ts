import type { z } from 'zod';
import type { Refusal, RefusalCode } from '../domain/kernel/refusal.js';
import type { Role } from '../domain/user/events.js';
import type { OperationContext } from './context.js';

/** One page of a list. `nextCursor` is null on the last. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

interface Declaration<Input extends z.ZodObject, Output extends z.ZodType> {
  /** `family.verb`: every door derives its own spelling from it. */
  readonly name: string;
  /** One sentence, for API documents, tool lists and `--help`. */
  readonly summary: string;
  /** Method and path below the server's root; `{names}` are fields of the input. */
  readonly http: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /v1/${string}`;
  readonly scope: string;
  /** Only these roles may call it. */
  readonly roles?: readonly Role[];
  readonly price: 'free';
  /** A strict object: unknown fields are refused, not ignored. */
  readonly input: Input;
  readonly output: Output;
  /** The codes it answers with by its own decision; those of the gateway itself are understood. */
  readonly refuses: readonly RefusalCode[];
  /** Entity tag of an answer that `If-Match` can name, for doors that carry one: `"r7"`. */
  etag?(data: z.output<Output>): string | undefined;
}

type Outcome<Value> = Promise<Value | Refusal>;

export interface CommandDeclaration<Input extends z.ZodObject, Output extends z.ZodType> extends Declaration<
  Input,
  Output
> {
  readonly kind: 'command';
  /** Answers 201 instead of 200. */
  readonly creates?: true;
  /** Replies without waiting for the read models (hot paths). */
  readonly settles?: 'at once';
  run(input: z.output<Input>, context: OperationContext): Outcome<z.input<Output>>;
}

export interface QueryDeclaration<Input extends z.ZodObject, Output extends z.ZodType> extends Declaration<
  Input,
  Output
> {
  readonly kind: 'query';
  run(input: z.output<Input>, context: OperationContext): Outcome<z.input<Output>>;
}

/** A query whose answer is a page of `output` items. */
export interface ListDeclaration<Input extends z.ZodObject, Output extends z.ZodType> extends Declaration<
  Input,
  Output
> {
  readonly kind: 'list';
  run(input: z.output<Input>, context: OperationContext): Outcome<Page<z.input<Output>>>;
}

/** A query whose answer is a stream of `output` items, one line or event each; the whole is never held in memory. */
export interface StreamDeclaration<Input extends z.ZodObject, Output extends z.ZodType> extends Declaration<
  Input,
  Output
> {
  readonly kind: 'stream';
  run(input: z.output<Input>, context: OperationContext): Outcome<AsyncIterable<z.input<Output>>>;
}

/** What the registry, the gateway and the doors know of an operation: its declaration, and a `run` they call with parsed input. */
export interface Operation extends Omit<Declaration<z.ZodObject, z.ZodType>, never> {
  readonly kind: 'command' | 'query' | 'list' | 'stream';
  readonly creates?: true;
  readonly settles?: 'at once';
  run(input: unknown, context: OperationContext): Promise<unknown>;
}

type AnyDeclaration<Input extends z.ZodObject, Output extends z.ZodType> =
  | CommandDeclaration<Input, Output>
  | QueryDeclaration<Input, Output>
  | ListDeclaration<Input, Output>
  | StreamDeclaration<Input, Output>;

/**
 * Declares an operation once; it then exists on every door.
 *
 * @example
 * export const getThread = operation({ name: 'thread.get', kind: 'query', http: 'GET /v1/threads/{threadId}', … });
 */
export const operation = <Input extends z.ZodObject, Output extends z.ZodType>(
  declaration: AnyDeclaration<Input, Output>,
): Operation =>
  // The gateway parses the input with this very schema before it calls run, so the types meet there and not here.
  declaration as unknown as Operation;
