import { randomUUID } from 'node:crypto';
import type { Caller, ScratchpadBinding } from '../access/caller.js';
import type { Command } from '../event-sourcing/command.js';
import { isUuid } from '../kernel/ids.js';
import type { Operation } from '../operation/operation.js';
import { fieldsOf, type Envelope, type SentFields } from './envelope.js';
import type { Request, Success } from './request.js';

/**
 * One request on its way through the steps. Each step sets what it finds out; reading it before that throws.
 * Why a class that sets every field at once: an object that grows costs V8 four times the rest of the gateway.
 */
export class Exchange {
  readonly operation: Operation;
  readonly sent: SentFields;
  readonly correlationId: string;
  /** Undefined: no scratchpad is bound. */
  binding: ScratchpadBinding | undefined = undefined;
  private knownCaller: Caller | undefined = undefined;
  private knownEnvelope: Envelope | undefined = undefined;
  private knownInput: unknown = undefined;
  private knownCommand: Command | undefined = undefined;
  private knownOutcome: unknown = undefined;
  private knownSuccess: Success | undefined = undefined;

  constructor(
    readonly request: Request,
    /** Answers the caller as of now; asked again while events flow. */
    readonly authenticate: () => Promise<Caller | undefined>,
  ) {
    this.operation = request.operation;
    this.sent = fieldsOf(request);
    this.correlationId = isUuid(this.sent.correlationId ?? '') ? String(this.sent.correlationId) : randomUUID();
  }

  get caller(): Caller {
    return known(this.knownCaller, 'authenticate');
  }
  set caller(caller: Caller) {
    this.knownCaller = caller;
  }

  get envelope(): Envelope {
    return known(this.knownEnvelope, 'parse');
  }
  set envelope(envelope: Envelope) {
    this.knownEnvelope = envelope;
  }

  get input(): unknown {
    return known(this.knownInput, 'parse');
  }
  set input(input: unknown) {
    this.knownInput = input;
  }

  get command(): Command {
    return known(this.knownCommand, 'fence');
  }
  set command(command: Command) {
    this.knownCommand = command;
  }

  get outcome(): unknown {
    return this.knownOutcome;
  }
  set outcome(outcome: unknown) {
    this.knownOutcome = outcome;
  }

  get success(): Success {
    return known(this.knownSuccess, 'check output');
  }
  set success(success: Success) {
    this.knownSuccess = success;
  }
}

function known<Value>(value: Value | undefined, step: string): Value {
  if (value === undefined) throw new Error(`This is known after the step "${step}".`);
  return value;
}
