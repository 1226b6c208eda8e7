import type { RequestHandler } from 'express';
import { refuse } from '../../domain/kernel/refusal.js';
import { refuseHere } from '../http/fallbacks.js';

const loopback = ['localhost', '127.0.0.1', '[::1]'];
/** Where a server listens that listens everywhere: no client's name for it. */
const everywhere = ['0.0.0.0', '[::]'];

/**
 * Lets through what was sent to one of this server's names, by no page or by a page of one of them: whatever a browser
 * was made to send here from elsewhere has another Host or another Origin. Ports do not count.
 */
export function onlyFor(names: readonly string[]): RequestHandler {
  const known = new Set([...loopback, ...names.map(hostOf).filter((name) => !everywhere.includes(name))]);
  const isKnown = (host: string): boolean => host !== '' && known.has(host);
  return (request, response, next) => {
    const { host = '', origin } = request.headers;
    if (isKnown(hostOf(host)) && (origin === undefined || isKnown(hostIn(origin)))) return next();
    refuseHere(request, response, refuse('authorization_refused', 'This door is not open to that host or origin.'));
  };
}

/** An address or name, with or without a port, as URLs spell it; empty when it is neither. */
function hostOf(name: string): string {
  if (!/^[\w.:[\]-]+$/.test(name)) return '';
  return hostIn(`http://${/^[\da-f]*:[\da-f:]*:/i.test(name) ? `[${name}]` : name}`);
}

const hostIn = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '');
