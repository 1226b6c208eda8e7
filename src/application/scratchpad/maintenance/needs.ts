import type { EventSourcing } from '../../event-sourcing/append.js';
import { systemCommand } from '../../event-sourcing/command.js';
import { OwnerStreams } from '../../event-sourcing/owner-streams.js';
import { derivedUuid } from '../../kernel/ids.js';
import type { PadRef } from '../../ports/pad-keys.js';
import type { ReadDb } from '../../ports/read-models.js';
import type { ScratchpadStore } from '../../ports/scratchpad-store.js';
import { PadContext } from '../pad-context.js';

/** What the system's work over all pads stands on. */
export interface MaintenanceNeeds {
  readonly eventSourcing: EventSourcing;
  readonly scratchpadStore: ScratchpadStore;
  /** Read models of every tenant. They decide nothing here: the streams do. */
  readonly reads: ReadDb;
}

/** A pad as the system works on it. `work` names the kind of work: the same work stores the same events. */
export function systemPad(
  { eventSourcing, scratchpadStore }: MaintenanceNeeds,
  { ownerId, scratchpadId }: PadRef,
  work: 'ledger auditor' | 'orphan sweep' | 'purged',
): PadContext {
  const command = systemCommand({ id: derivedUuid(work, scratchpadId), clock: eventSourcing.clock });
  return new PadContext(new OwnerStreams(eventSourcing, ownerId, command), { scratchpadStore }, scratchpadId);
}
