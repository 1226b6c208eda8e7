import { existsSync } from 'node:fs';
import { extname, join } from 'node:path';
import { StartupError } from '../startup-error.js';

/** The compiled file of a module below this folder. Children are plain node processes, also when this runs from source. */
export function compiled(module: string): string {
  const fromSource = extname(__filename) === '.ts';
  const folder = fromSource ? join(__dirname, '../../../dist/src/infrastructure/embedded') : __dirname;
  const file = join(folder, `${module}.js`);
  if (!existsSync(file)) throw new StartupError(`${file} is missing: run "npm run build" first.`);
  return file;
}
