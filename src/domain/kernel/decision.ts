import type { DomainEvent } from './aggregate.js';
import type { Refusal, RefusalCode } from './refusal.js';

/** What a decision says: the events that follow (none: nothing to do), or a refusal from the declared codes. */
export type Decision<Event extends DomainEvent, Code extends RefusalCode = never> = readonly Event[] | Refusal<Code>;
