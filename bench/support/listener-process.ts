import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { built } from './built.js';
import { serveWithGrpcJs } from './grpc-js-server.js';
import { generatedMessages, ownMessages } from './messages.js';

/** Who speaks gRPC and protobuf in front of the engine. */
export const listenerKinds = {
  own: async (): Promise<number> => (await built('server').startEventStore({ memory: true })).port,
  'grpc-js with own messages': () => serveWithGrpcJs(ownMessages()),
  'grpc-js': () => serveWithGrpcJs(generatedMessages),
};
export type ListenerKind = keyof typeof listenerKinds;

/** The event store over memory behind one kind of listener, in a process of its own. */
export interface ListenerProcess {
  readonly kind: ListenerKind;
  readonly port: number;
  /** Microseconds of processor time used so far. */
  cpu(): Promise<number>;
  stop(): void;
}

export async function startListener(kind: ListenerKind): Promise<ListenerProcess> {
  const child = fork(__filename, [kind], { execArgv: ['--require', 'tsx/cjs'] });
  const port = await answerOf(child);
  return {
    kind,
    port,
    cpu() {
      child.send('cpu');
      return answerOf(child);
    },
    stop: () => void child.kill(),
  };
}

async function answerOf(child: ChildProcess): Promise<number> {
  const [answer] = (await once(child, 'message')) as [number]; // the only kind of message it sends
  return answer;
}

async function serve(kind: ListenerKind): Promise<void> {
  process.send?.(await listenerKinds[kind]());
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
}

if (require.main === module) void serve(process.argv[2] as ListenerKind); // given by startListener
