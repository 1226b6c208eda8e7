import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StartupError } from './embedded/startup-error.js';

/** The key encryption key of a home: made at the first start, then kept (mode 0600). Without it, what it wrapped is lost. */
export function keptKek(home: string): Buffer {
  const file = join(home, 'kek');
  if (!existsSync(file)) writePrivate(file, `${randomBytes(32).toString('base64')}\n`);
  const kek = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  if (kek.length !== 32) throw new StartupError(`${file} must hold 32 bytes in base64.`);
  return kek;
}

/** Where the first key of the administrator is kept. */
export const adminKeyFile = (home: string): string => join(home, 'admin.key');

/** Writes a file that only its owner can read, whole or not at all. */
export function writePrivate(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const staged = `${file}.${process.pid}.tmp`;
  writeFileSync(staged, text, { mode: 0o600, flag: 'wx' });
  chmodSync(staged, 0o600);
  renameSync(staged, file);
}

export const removeFile = (file: string): void => rmSync(file, { force: true });
