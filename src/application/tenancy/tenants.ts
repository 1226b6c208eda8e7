import type { PadRole } from '../../domain/kernel/roles.js';
import type { DecodedEvent } from '../event-sourcing/codec.js';
import { systemCommand, type Command } from '../event-sourcing/command.js';
import { derivedUuid } from '../kernel/ids.js';
import type { ReadDb, ReadDbs } from '../ports/read-models.js';
import { Tenant } from './tenant.js';
import type { TenancyNeeds } from './needs.js';

/** Makes a tenant from an owner and a command. The only place where an owner's id becomes reach. */
export class Tenants {
  constructor(
    readonly needs: TenancyNeeds,
    private readonly dbs: ReadDbs,
  ) {}

  of(ownerId: string, command: Command, padRole?: PadRole): Tenant {
    return new Tenant(this.needs, ownerId, command, this.dbs.for(ownerId), padRole);
  }

  /** An owner, for the system acting because of an event: the event is the cause, and its correlation id continues. */
  ofEvent({ id, metadata }: DecodedEvent): Tenant {
    const command = systemCommand({
      id: derivedUuid('reaction', id),
      correlationId: metadata.$correlationId,
      causationId: id,
      clock: this.needs.eventSourcing.clock,
    });
    return this.of(metadata.ownerId, command);
  }

  /** An owner, for the system's own commands outside any event: the first start, maintenance. */
  ofSystem(ownerId: string, commandId: string): Tenant {
    const command = systemCommand({ id: commandId, clock: this.needs.eventSourcing.clock });
    return this.of(ownerId, command);
  }

  /** Rows of every tenant. */
  get allTenants(): ReadDb {
    return this.dbs.system;
  }
}
