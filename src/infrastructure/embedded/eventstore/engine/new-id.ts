import { randomUUID } from 'node:crypto';
import { idFromText } from '../protocol/uuid.js';

/** An id for an event that the server itself writes. */
export const newId = (): string => idFromText(randomUUID());
