/** Namespace of this product's advisory locks: two numbers name one, within a database. */
const namespace = 0x70616c69;

/** Locks on work that only one process may do at a time. */
export const lockNumbers = {
  migration: [namespace, 1],
  projector: [namespace, 2],
  reactions: [namespace, 3],
  rebuild: [namespace, 4],
  ledgerAuditor: [namespace, 5],
  kekMinimums: [namespace, 6],
} satisfies Readonly<Record<string, [number, number]>>;
