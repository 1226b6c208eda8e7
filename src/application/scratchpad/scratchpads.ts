import type { PadRole } from '../../domain/kernel/roles.js';
import { refuse, type Refusal } from '../../domain/kernel/refusal.js';
import type { Scratchpad } from '../../domain/scratchpad/scratchpad.js';
import type { OwnerStreams } from '../event-sourcing/owner-streams.js';
import { provisionScratchpad, removeScratchpad } from './lifecycle.js';
import { PadContext, type ScratchpadNeeds } from './pad-context.js';
import { OwnedPad, type Pad } from './pad.js';

export type { ScratchpadNeeds };
export type OpenScratchpad = Extract<Scratchpad, { status: 'open' }>;

/** The scratchpads of one owner, as one command meets them: its author and its pad role are bound too. */
export class Scratchpads {
  constructor(
    private readonly streams: OwnerStreams,
    private readonly needs: ScratchpadNeeds,
    private readonly role?: PadRole,
  ) {}

  pad(scratchpadId: string): Pad {
    return new OwnedPad(this.context(scratchpadId), this.needs, this.role);
  }

  /** Makes stream and keys of the pad that a thread's slot names. Fails when: the thread names it no more → `not_found`. */
  async provision(slot: {
    readonly threadId: string;
    readonly scratchpadId: string;
  }): Promise<OpenScratchpad | Refusal<'not_found'>> {
    const pad = await provisionScratchpad(this.context(slot.scratchpadId), slot.threadId);
    return pad.status === 'open' ? pad : refuse('not_found');
  }

  /** Ends the stream of a pad that no thread names any more, and removes its keys. */
  remove(scratchpadId: string): Promise<void> {
    return removeScratchpad(this.context(scratchpadId));
  }

  private context(scratchpadId: string): PadContext {
    return new PadContext(this.streams, this.needs, scratchpadId);
  }
}
