import type { RequestHandler } from 'express';
import { refuse } from '../../domain/kernel/refusal.js';
import { refuseHere } from '../rest/fallbacks.js';

const loopback = ['localhost', '127.0.0.1', '[::1]'];
const everywhere = ['0.0.0.0', '[::]'];

/**
 * Lets through what was sent to one of this server's names, by no page or by a page of one of them: whatever a browser
 * was made to send here from elsewhere has another Host or another Origin. Ports do not count.
 */
export function onlyFor(names: readonly string[]): RequestHandler {
  const known = new Set([...loopback, ...names.map(inUrls).filter((name) => !everywhere.includes(name))]);
  const isKnown = (url: string): boolean => URL.canParse(url) && known.has(new URL(url).hostname);
  return (request, response, next) => {
    const { host = '', origin } = request.headers;
    const isWanted = /^[\w.:[\]-]+$/.test(host) && isKnown(`http://${host}`);
    if (isWanted && (origin === undefined || isKnown(origin))) return next();
    refuseHere(request, response, refuse('authorization_refused', 'This door is not open to that host or origin.'));
  };
}

/** An address or a name as URLs spell it. */
const inUrls = (name: string): string =>
  new URL(`http://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}`).hostname;
