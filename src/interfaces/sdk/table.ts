import type { Kind } from '../../application/operation/operation.js';
import { operations } from '../../application/registry.js';

/** What the client has to know of an operation to call it. */
export interface Entry {
  readonly name: string;
  /** The name before it was renamed. */
  readonly formerName?: string | undefined;
  readonly http: string;
  readonly kind: Kind;
  /** The fields of its input that are not in its path. */
  readonly fields: readonly string[];
}

/** Every operation. The build evaluates this file: what is in dist/ is its value, which imports nothing. */
export const table: readonly Entry[] = operations.map(({ name, recordedAs, http, kind, input }) => ({
  name,
  formerName: recordedAs,
  http,
  kind,
  fields: Object.keys(input.shape).filter((field) => !http.includes(`{${field}}`)),
}));
