import { Router } from 'express';
import type { Gateway } from '../../application/gateway/request.js';
import type { Operation } from '../../application/operation/operation.js';
import type { Door } from '../http/door.js';
import { apiDocument } from './api-document.js';
import { docsPage } from './docs.js';
import { restRouter } from './router.js';

export interface RestNeeds {
  readonly operations: readonly Operation[];
  readonly gateway: Gateway;
  /** The product's version, for the API document. */
  readonly version: string;
}

/** REST door: every operation at its path, the API document at `/openapi.json` and its page at `/docs`. */
export const restDoor =
  ({ operations, gateway, version }: RestNeeds): Door =>
  (ending) => {
    const documents = Router();
    documents.get('/openapi.json', apiDocument(operations, version));
    documents.use(docsPage());
    return { operations: restRouter(operations, gateway, ending), others: documents };
  };
