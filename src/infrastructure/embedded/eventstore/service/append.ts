import type { Engine } from '../engine/engine.js';
import { sizeOf, type ProposedEvent } from '../engine/events.js';
import type { Outcome } from '../engine/expectation.js';
import { MAX_APPEND_BYTES, MAX_MESSAGE_BYTES } from '../engine/limits.js';
import type { Call } from '../grpc/call.js';
import { CallError, Status } from '../grpc/status.js';
import { appendAnswer, appendConflict, readAppendMessage, removalAnswer } from '../protocol/append.js';
import { readRemoval, type Target } from '../protocol/target.js';
import { refusalOf } from './admission.js';
import { appendTooLarge, errorOf, tooMuchArriving, translated } from './errors.js';
import { slowDown } from './slow-down.js';

/** An append in a call of its own. */
export function append(engine: Engine, call: Call): void {
  let target: Target | undefined;
  let bytes = 0;
  let events: ProposedEvent[] = [];
  const share = engine.arriving.share();
  const leave = (): void => {
    share.giveBack();
    events = [];
  };
  const onMessage = (message: Buffer): void => {
    const part = readAppendMessage(message);
    if ('target' in part) target = part.target;
    else {
      bytes += sizeOf(part.event);
      if (bytes > MAX_APPEND_BYTES) throw appendTooLarge();
      if (!share.add([part.event])) throw tooMuchArriving();
      events.push(part.event);
    }
    slowDown(engine, call);
  };
  const onEnd = (): void => {
    if (!target) throw new CallError(Status.invalidArgument, 'The append has no options.');
    const wish = { kind: 'append', ...target, events } as const;
    leave();
    submit(engine, call, wish, (outcome) => {
      if (outcome.kind === 'written') return appendAnswer(outcome);
      return outcome.kind === 'wrong_version' ? appendConflict(wish, outcome.current) : undefined;
    });
  };
  call.onClose(leave);
  call.receive({ onMessage: translating(onMessage), onEnd }, MAX_MESSAGE_BYTES);
}

/** A delete or a tombstone. */
export const removal =
  (kind: 'delete' | 'tombstone') =>
  (engine: Engine, call: Call): void => {
    const onMessage = (message: Buffer): void =>
      submit(engine, call, { kind, ...readRemoval(message), events: [] }, (outcome) =>
        outcome.kind === 'written' ? removalAnswer(outcome.position) : undefined,
      );
    call.receive({ onMessage: translating(onMessage) }, MAX_MESSAGE_BYTES);
  };

type Wish = Parameters<Engine['submit']>[0];

/** Answers with what `answerFor` makes of the outcome, or with its error when that is nothing. */
function submit(engine: Engine, call: Call, wish: Wish, answerFor: (outcome: Outcome) => Buffer | undefined): void {
  const settle = (outcome: Outcome): void => {
    const answer = answerFor(outcome);
    if (answer) call.reply(answer);
    else if (outcome.kind !== 'written') call.fail(errorOf(outcome, wish));
  };
  const refusal = refusalOf(wish);
  if (refusal) settle(refusal);
  else engine.submit(wish, call.timeout === undefined ? undefined : Date.now() + call.timeout, settle);
}

const translating =
  (receive: (message: Buffer) => void) =>
  (message: Buffer): void => {
    try {
      receive(message);
    } catch (thrown) {
      throw translated(thrown);
    }
  };
