import type { Refusal } from '../../domain/kernel/refusal.js';
import type { Caller } from '../access/caller.js';
import type { Operation, Page } from '../operation/operation.js';

/** Who a request comes from: a bearer key as sent, or a caller that is known and is asked for again at every request. */
export type Principal =
  { readonly bearer: string | undefined } | { readonly authenticate: () => Promise<Caller | undefined> };

/** A request as a door hands it over: still raw, but for the split into these parts. */
export interface Request {
  readonly operation: Operation;
  readonly input: unknown;
  /** Set when the door could not read the request: answered in place of running it, to callers who may run it. */
  readonly unreadable?: Refusal<'validation_failed'> | undefined;
  readonly principal: Principal;
  readonly correlationId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** `"r7"`, as sent. */
  readonly ifMatch?: string | undefined;
  /** The scratchpad that tools act on, where the door names one. */
  readonly scratchpad?: string | undefined;
  /** Where events are to continue, as a door's own protocol says it; it wins over the field `lastEventId`. */
  readonly lastEventId?: string | undefined;
  /** Position that the read models must have reached before a read is answered; commands ignore it. */
  readonly minPosition?: string | undefined;
  /** True: a command is answered without waiting for the read models. */
  readonly respondAsync?: boolean | undefined;
  readonly door: 'rest' | 'mcp' | 'research';
}

export interface Success {
  readonly data: unknown;
  readonly page?: Omit<Page<unknown>, 'items'>;
  readonly position?: string;
  readonly replayed?: true;
}

export interface Reply {
  readonly correlationId: string;
  readonly result: Success | Refusal;
}

export type Gateway = (request: Request) => Promise<Reply>;
