/** A program that the keeper runs and ends. It is plain data: it crosses a process border. */
export interface Program {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment: nothing is inherited, so that no secret of the server leaks into a backend. */
  readonly env: Readonly<Record<string, string>>;
  /** Absent: as the user of the server. */
  readonly runAs?: { readonly uid: number; readonly gid: number } | undefined;
  /** Receives stderr, and stdout unless the program talks. */
  readonly logFile: string;
  /** It answers on stdout line by line, and ends when its stdin closes. */
  readonly talks?: boolean;
  /** Politest first; SIGKILL follows by itself. */
  readonly stopSignals: readonly NodeJS.Signals[];
}

export type ToKeeper =
  | { readonly kind: 'run'; readonly id: number; readonly program: Program }
  | { readonly kind: 'stop'; readonly id: number };

export type FromKeeper =
  | { readonly kind: 'started'; readonly id: number; readonly pid: number }
  | { readonly kind: 'line'; readonly id: number; readonly line: string }
  | { readonly kind: 'ended'; readonly id: number; readonly how: string };
