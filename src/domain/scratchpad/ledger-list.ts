/** How far a ledger reaches: its generation, and the last index that was assigned in it (0: none). */
export interface LedgerExtent {
  readonly generation: number;
  readonly length: number;
}
