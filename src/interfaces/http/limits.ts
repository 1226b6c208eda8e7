/** Bytes that a request's line and headers may have together. */
export const maxHeaderBytes = 16_384;
