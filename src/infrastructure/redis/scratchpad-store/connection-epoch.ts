import type { PadRef } from '../../../application/ports/pad-keys.js';

const remembered = 50_000;

/** Which pads were compared with their streams over the connection as it is now. */
export class VerifiedPads {
  private readonly pads = new Set<string>();
  connection = 0;

  /** A new connection may lead to a server that has lost its tail. */
  reconnected(): void {
    this.connection += 1;
    this.pads.clear();
  }

  has({ ownerId, scratchpadId }: PadRef): boolean {
    return this.pads.has(`${ownerId}:${scratchpadId}`);
  }

  add({ ownerId, scratchpadId }: PadRef, connection: number): void {
    if (connection !== this.connection) return;
    // Most pads come and go: forgetting all at once is cheap, and costs one comparison for each that is still in use.
    if (this.pads.size >= remembered) this.pads.clear();
    this.pads.add(`${ownerId}:${scratchpadId}`);
  }
}
