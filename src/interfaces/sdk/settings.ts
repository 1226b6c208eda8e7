import type { PalimpsestOptions } from './options.js';
import { longestMs } from './watch.js';

/** Options with their defaults, checked. */
export interface Settings {
  readonly url: string;
  readonly authorization: string;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly maxDelayMs: number;
  readonly readYourWrites: boolean;
}

/** What is wrong is said without what was given: an URL and a key may hold secrets. */
export function settingsOf(options: PalimpsestOptions): Settings {
  return {
    url: checkedUrl(options.url),
    authorization: `Bearer ${checkedKey(options.apiKey)}`,
    timeoutMs: options.timeoutMs ?? 30_000,
    retries: options.retries ?? 3,
    maxDelayMs: Math.min(options.maxRetryDelayMs ?? 10_000, longestMs),
    readYourWrites: options.readYourWrites ?? true,
  };
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new TypeError('url must begin with http:// or https:// and hold no password.');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function checkedKey(key: unknown): string {
  if (typeof key === 'string' && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new TypeError('apiKey must be an API key: printable characters without white space.');
}
