import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StartupError } from './startup-error.js';
import { makeKekRing, parseKek, type Kek, type KekRing } from './vault/kek-ring.js';

const kekFile = (home: string): string => join(home, 'kek');

/**
 * The key encryption keys of a home: one is made at the first start, and they are kept (mode 0600), a line each. The
 * highest number is the current one. Without them, what they wrapped is lost.
 */
export function keptKeks(home: string): KekRing {
  const file = kekFile(home);
  if (!existsSync(file)) writeKeks(file, [{ number: 1, key: randomBytes(32) }]);
  const keks = readFileSync(file, 'utf8').trim().split('\n').map(parseKek);
  const known = keks.filter((kek) => kek !== undefined).sort((a, b) => b.number - a.number);
  const [current, ...others] = known;
  if (!current || known.length !== keks.length) {
    throw new StartupError(`${file} must hold a line "number:key" for each key, 32 bytes in base64.`);
  }
  return makeKekRing(current, others);
}

/** Adds a new current key to those of a home. */
export function addKek(home: string): KekRing {
  const { current, all } = keptKeks(home);
  writeKeks(kekFile(home), [{ number: current.number + 1, key: randomBytes(32) }, ...all]);
  return keptKeks(home);
}

/** Drops every key of a home but the current one: nothing needs them any more. */
export const dropOldKeks = (home: string): void => writeKeks(kekFile(home), [keptKeks(home).current]);

const writeKeks = (file: string, keks: readonly Kek[]): void =>
  writePrivate(file, keks.map(({ number, key }) => `${number}:${key.toString('base64')}\n`).join(''));

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

/** Gives an existing file the first free name of `file.1`, `file.2`, …: what it held is not lost. */
export function setAside(file: string): void {
  if (!existsSync(file)) return;
  let n = 1;
  while (existsSync(`${file}.${n}`)) n += 1;
  renameSync(file, `${file}.${n}`);
}

export const removeFile = (file: string): void => rmSync(file, { force: true });
