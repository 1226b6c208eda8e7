import { randomUUID } from 'node:crypto';
import type { Engine } from '../engine/engine.js';
import { MAX_MESSAGE_BYTES } from '../engine/limits.js';
import type { Call } from '../grpc/call.js';
import { CallError, Status } from '../grpc/status.js';
import { addressIn, clusterOfOne, supportedMethods, type Method } from '../protocol/node-info.js';
import { append, removal } from './append.js';
import { batchAppend } from './batch-append.js';
import { read } from './read.js';
import { insteadOf } from './unsupported.js';

type Handler = (engine: Engine, call: Call) => void;

const STREAMS = 'event_store.client.streams.Streams';
const FEATURES = 'event_store.client.server_features.ServerFeatures';
const GOSSIP = 'event_store.client.gossip.Gossip';

const handlers: Readonly<Record<string, Handler>> = {
  [`/${STREAMS}/Append`]: append,
  [`/${STREAMS}/BatchAppend`]: batchAppend,
  [`/${STREAMS}/Read`]: read,
  [`/${STREAMS}/Delete`]: removal('delete'),
  [`/${STREAMS}/Tombstone`]: removal('tombstone'),
};

const methods: readonly Method[] = [
  ...['Append', 'Delete', 'Tombstone'].map((method) => ({ service: STREAMS, method, features: [] })),
  { service: STREAMS, method: 'BatchAppend', features: ['deadline_duration'] },
  { service: STREAMS, method: 'Read', features: ['position', 'events'] },
  { service: FEATURES, method: 'GetSupportedMethods', features: [] },
  { service: GOSSIP, method: 'Read', features: [] },
];

export interface Node {
  readonly engine: Engine;
  /** Where this node is found by clients whose calls do not say where they have found it. */
  readonly host: string;
  readonly port: () => number;
  /** Throws unless the caller may read and write. */
  readonly authenticate: (call: Call) => void;
}

/** Sends each call to what serves it. What is asked before anyone can log in needs no credentials. */
export function routes({ engine, host, port, authenticate }: Node): (call: Call) => void {
  const instanceId = randomUUID();
  const open: Readonly<Record<string, (call: Call) => Buffer>> = {
    [`/${FEATURES}/GetSupportedMethods`]: () => supportedMethods(methods),
    [`/${GOSSIP}/Read`]: ({ headers }) => {
      const address = { host, port: port(), ...addressIn(headers[':authority']) };
      return clusterOfOne(instanceId, address, Date.now());
    },
  };
  return (call) => {
    const answer = open[call.path];
    if (answer) return call.receive({ onMessage: () => call.reply(answer(call)) }, MAX_MESSAGE_BYTES);
    authenticate(call);
    const handler = handlers[call.path];
    if (!handler) throw new CallError(Status.unimplemented, insteadOf(call.path));
    handler(engine, call);
  };
}
