import type { LiveSource, Operation, Page } from '../../operation/operation.js';
import { mayCall } from '../../operation/authorization.js';
import type { Metrics } from '../../ports/telemetry.js';
import type { Exchange } from '../exchange.js';
import { LiveStream } from '../live-stream.js';
import type { Success } from '../request.js';
import type { Step } from '../step.js';

/** Reduces the outcome to the operation's declared output. Invariant: nothing undeclared leaves. */
export const checkOutput = (metrics: Metrics): Step => ({
  name: 'check output',
  run(exchange) {
    exchange.success = successOf(exchange, metrics);
    return undefined;
  },
});

function successOf(exchange: Exchange, metrics: Metrics): Success {
  const { operation, outcome, command } = exchange;
  // The type of an operation makes its `run` answer what its kind says, so each cast below is of that.
  switch (operation.kind) {
    case 'events':
      return { data: new LiveStream(operation, outcome as LiveSource, isStillAuthorized(exchange), metrics) };
    case 'stream':
      return { data: reduced(operation, outcome as AsyncIterable<unknown>), ...storedBy(command) };
    case 'list': {
      const { items, nextCursor, lost } = outcome as Page<unknown>;
      const page = lost ? { nextCursor, lost } : { nextCursor };
      return { data: items.map((item) => operation.output.parse(item)), page, ...storedBy(command) };
    }
    case 'command':
    case 'query':
      return { data: operation.output.parse(outcome), ...storedBy(command) };
  }
}

const storedBy = ({ position, replayed }: Exchange['command']): Pick<Success, 'position' | 'replayed'> => ({
  ...(position !== undefined && { position: position.toString() }),
  ...(replayed === true && { replayed: true as const }),
});

async function* reduced(operation: Operation, items: AsyncIterable<unknown>): AsyncIterable<unknown> {
  for await (const item of items) yield operation.output.parse(item);
}

/** A listener may continue for as long as it could begin again as the same caller. */
const isStillAuthorized =
  ({ authenticate, caller: then, operation }: Exchange) =>
  async (): Promise<boolean> => {
    const now = await authenticate();
    return now?.userId === then.userId && now.role === then.role && mayCall(now, operation);
  };
