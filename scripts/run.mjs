// Runs a program in the foreground: signals go to it, its exit code comes back.
import { spawn } from 'node:child_process';

/** Resolves with the exit code, or 128 + the signal's number as shells have it. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', ...options });
    // From a terminal the child gets Ctrl-C itself; what is sent to this process alone is passed on.
    const pass = (signal) => child.kill(signal);
    const forward = { SIGTERM: pass, SIGHUP: pass, SIGINT: process.stdin.isTTY ? () => undefined : pass };
    for (const [signal, handler] of Object.entries(forward)) process.on(signal, handler);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const [name, handler] of Object.entries(forward)) process.off(name, handler);
      resolve(code ?? 128 + signalNumber(signal));
    });
  });
}

const signalNumber = (signal) => ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 })[signal] ?? 0;
