import type { PadRole } from '../../domain/kernel/roles.js';
import type { Aggregates } from '../event-sourcing/aggregates.js';
import type { Command } from '../event-sourcing/command.js';
import type { EventReader } from '../event-sourcing/event-reader.js';
import { OwnerStreams } from '../event-sourcing/owner-streams.js';
import type { ReadDb } from '../ports/read-models.js';
import { Scratchpads } from '../scratchpad/scratchpads.js';
import type { TenancyNeeds } from './needs.js';
import { TenantCredentials } from './tenant-credentials.js';
import { TenantLiveFeed, TenantPersonalData } from './tenant-handles.js';

/** Everything of one owner, as one command meets it. Invariant: no member takes an owner's id. */
export class Tenant {
  readonly aggregates: Aggregates;
  readonly events: EventReader;
  private readonly streams: OwnerStreams;

  constructor(
    private readonly needs: TenancyNeeds,
    readonly id: string,
    command: Command,
    /** The owner's rows; row-level security stands behind it. */
    readonly reads: ReadDb,
    private readonly padRole?: PadRole,
  ) {
    this.streams = new OwnerStreams(needs.eventSourcing, id, command);
    this.aggregates = this.streams.aggregates;
    this.events = this.streams.events;
  }

  get scratchpads(): Scratchpads {
    const { scratchpadStore, live, eventSourcing } = this.needs;
    const { personalDataKeys } = eventSourcing;
    return new Scratchpads(this.streams, { scratchpadStore, live, personalDataKeys }, this.padRole);
  }

  get credentials(): TenantCredentials {
    return new TenantCredentials(this.needs, this.id);
  }

  get personalData(): TenantPersonalData {
    return new TenantPersonalData(this.needs.eventSourcing.personalDataKeys, this.id);
  }

  get live(): TenantLiveFeed {
    return new TenantLiveFeed(this.needs.live, this.id);
  }
}
