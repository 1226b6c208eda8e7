import type { ProposedEvent } from '../engine/events.js';
import type { Outcome } from '../engine/expectation.js';
import { readProposedEvent } from './proposed-event.js';
import { readTarget, type Target } from './target.js';
import { MalformedMessage, WireReader, WireWriter } from '../../../protobuf/wire.js';

/** One message of a classic append: the first says where to, the others carry an event each. */
export type AppendMessage = { readonly target: Target } | { readonly event: ProposedEvent };

export function readAppendMessage(bytes: Buffer): AppendMessage {
  const message = new WireReader(bytes);
  while (message.next()) {
    if (message.field === 1) return { target: readTarget(message.message()) };
    if (message.field === 2) return { event: readProposedEvent(message.message()) };
    message.skip();
  }
  throw new MalformedMessage('an append message is empty');
}

export function appendAnswer(outcome: Outcome & { kind: 'written' }): Buffer {
  const { revision, position } = outcome;
  return new WireWriter()
    .message(1, (success) => {
      if (revision < 0) success.empty(2);
      else success.number(1, revision);
      if (position === undefined) success.empty(4);
      else success.message(3, (at) => at.number(1, position).number(2, position));
    })
    .finish();
}

/** A conflict is an answer here, not an error. */
export function appendConflict(target: Target, current: number): Buffer {
  const { expected } = target;
  return new WireWriter()
    .message(2, (conflict) => {
      if (current < 0) conflict.empty(7);
      else conflict.number(6, current);
      if (expected === 'any') conflict.empty(9);
      else if (expected === 'stream_exists') conflict.empty(10);
      else if (expected === 'no_stream') conflict.empty(11);
      else conflict.number(8, expected);
    })
    .finish();
}

/** The answer to a delete and to a tombstone. */
export function removalAnswer(position: number | undefined): Buffer {
  const answer = new WireWriter();
  if (position === undefined) answer.empty(2);
  else answer.message(1, (at) => at.number(1, position).number(2, position));
  return answer.finish();
}
