import { z } from 'zod';
import { untilServing, type Backend, type BackendNeeds } from './backend.js';
import { compiled } from './compiled.js';
import { logFile } from './home.js';
import type { Kept } from './kept.js';
import { onKeptPort } from './ports.js';
import { supervise } from './supervise.js';

const name = 'eventstore';
const readyLine = z.object({ ready: z.literal(true), url: z.string() });

/** Starts the embedded event store as a process of its own, over the given Postgres. */
export async function startEventStoreProcess(needs: BackendNeeds, databaseUrl: string): Promise<Backend> {
  const { home, keeper } = needs;
  let url = '';

  const launch = async (port: number): Promise<Kept> => {
    let isServing = false;
    const kept = await keeper.run(
      {
        name,
        command: process.execPath,
        args: [compiled('eventstore-main')],
        cwd: home.path,
        env: {
          PATH: '/usr/bin:/bin',
          DATABASE_URL: databaseUrl,
          EVENTSTORE_HOST: '127.0.0.1',
          EVENTSTORE_PORT: String(port),
          EXIT_WITH_PARENT: '1',
        },
        logFile: logFile(home, name),
        talks: true,
        stopSignals: ['SIGTERM'],
      },
      (line) => {
        const ready = readyLine.safeParse(parsed(line));
        if (!ready.success) return;
        ({ url } = ready.data);
        isServing = true;
      },
    );
    return untilServing({ name, home, kept, serves: () => Promise.resolve(isServing) });
  };
  const { kept, port } = await onKeptPort(home, name, async (port) => ({ kept: await launch(port), port }));
  return { url, stop: supervise(name, kept, () => launch(port), needs) };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // Not every line is for us.
  }
}
