import { readFile } from 'node:fs/promises';
import { UsageError } from './usage-error.js';

/** Reads a file, or standard input for `-`. `what` stands for it in an error: the file's name may be a secret. */
export async function readText(file: string, what: string): Promise<string> {
  if (file === '-') return readStandardInput();
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw new UsageError(`The file for ${what} cannot be read.`);
  }
}

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array)); // no encoding was set
  return Buffer.concat(chunks).toString('utf8');
}

/** A secret from a file, from standard input, or typed without being shown; the line's end is no part of it. */
export async function readSecret(name: string, file: string | undefined): Promise<string> {
  const read = file === undefined && process.stdin.isTTY ? await typed(`${name}: `) : await readText(file ?? '-', name);
  const secret = read.replace(/\r?\n$/, '');
  if (secret === '') throw new UsageError(`${name} is empty: give it on standard input, or in a file.`);
  return secret;
}

function typed(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(prompt);
  stdin.setRawMode(true);
  stdin.resume();
  return new Promise((resolve, reject) => {
    let text = '';
    const end = (finish: () => void) => {
      stdin.off('data', take);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
      finish();
    };
    const take = (bytes: Buffer) => {
      for (const character of bytes.toString('utf8')) {
        if (character === '\r' || character === '\n' || character === '\u0004') return end(() => resolve(text));
        if (character === '\u0003') return end(() => reject(new UsageError('Nothing was sent.')));
        text = character === '\u007f' ? text.slice(0, -1) : text + character;
      }
    };
    stdin.on('data', take);
  });
}
