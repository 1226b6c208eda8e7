import type { Operation } from '../../application/operation.js';
export const openApi = (_operations: readonly Operation[], version: string): unknown => ({ openapi: '3.1.0', version });
