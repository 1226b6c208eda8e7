import type { DomainEvent } from './aggregate.js';
import type { Refusal, RefusalCode } from './refusal.js';

/** The events that follow from a decision (none: nothing to do), or a refusal with one of the declared codes. */
export type Decision<Event extends DomainEvent, Code extends RefusalCode = never> = readonly Event[] | Refusal<Code>;
