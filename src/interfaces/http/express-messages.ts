import type { Express } from 'express';
import { IncomingMessage, ServerResponse, type ServerOptions } from 'node:http';

type Newable = typeof IncomingMessage | typeof ServerResponse<IncomingMessage>;

/**
 * Options with which a server makes its requests and responses as the app wants them. Express sets the app's
 * prototype on each of them: where that changes something, V8 makes hidden classes anew for every request.
 */
export function messagesOf(app: Express): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  return {
    IncomingMessage: withPrototype(IncomingMessage, app.request),
    ServerResponse: withPrototype(ServerResponse, app.response),
  };
}

/** Node's constructors are functions, so they also initialise an object that has another prototype. */
function withPrototype<Constructor extends Newable>(constructor: Constructor, prototype: object): Constructor {
  function Made(this: object, ...args: unknown[]): void {
    Reflect.apply(constructor, this, args);
  }
  // What is static stays to be had.
  Object.setPrototypeOf(Made, constructor);
  Made.prototype = prototype;
  // With `new` it makes what the constructor makes; the compiler knows no functions that are called with `new`.
  return Made as unknown as Constructor;
}
