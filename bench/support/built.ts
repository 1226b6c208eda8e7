import { join } from 'node:path';

interface Modules {
  'engine/engine': typeof import('../../src/infrastructure/embedded/eventstore/engine/engine.js');
  'protocol/append': typeof import('../../src/infrastructure/embedded/eventstore/protocol/append.js');
  'protocol/batch-append': typeof import('../../src/infrastructure/embedded/eventstore/protocol/batch-append.js');
  'protocol/read-request': typeof import('../../src/infrastructure/embedded/eventstore/protocol/read-request.js');
  'protocol/read-response': typeof import('../../src/infrastructure/embedded/eventstore/protocol/read-response.js');
  'protocol/uuid': typeof import('../../src/infrastructure/embedded/eventstore/protocol/uuid.js');
  'store/memory': typeof import('../../src/infrastructure/embedded/eventstore/store/memory.js');
  server: typeof import('../../src/infrastructure/embedded/eventstore/server.js');
}

/** A module of the event store as it is built and run: the loader of the benchmarks' sources makes functions slower. */
export function built<Name extends keyof Modules>(name: Name): Modules[Name] {
  const path = join(__dirname, '../../dist/src/infrastructure/embedded/eventstore', `${name}.js`);
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- the path is not known before
  return require(path) as Modules[Name]; // its own type, by its name
}
