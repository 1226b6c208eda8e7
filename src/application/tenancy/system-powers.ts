import type { Caller } from '../access/caller.js';
import type { Command } from '../event-sourcing/command.js';
import { OwnerFirstEvents, type FirstEvents } from '../event-sourcing/first-event.js';
import type { LiveFeed } from '../event-sourcing/live-feed/live-feed.js';
import type { ProjectionControl } from '../ports/projection-control.js';
import type { ReadDb } from '../ports/read-models.js';
import type { Tenant } from './tenant.js';
import type { Tenants } from './tenants.js';

/** What reaches beyond the caller's tenant. An operation declares the powers that it uses (`uses`). */
export interface SystemPowers {
  /** Another tenant, under the same command. */
  readonly tenantOf: (ownerId: string) => Tenant;
  /** Rows of every tenant; undefined for callers that are neither auditors nor administrators. */
  readonly allTenants: ReadDb | undefined;
  /** Streams whose first event decides between tenants. */
  readonly firstEvents: FirstEvents;
  /** Positions of the events of every tenant. */
  readonly allPositions: LiveFeed['positions'];
  readonly projections: ProjectionControl;
}

/** Makes the powers of one command; each is made when it is used. */
export const systemPowers = (
  tenants: Tenants,
  projections: ProjectionControl,
  caller: Caller,
  command: Command,
): SystemPowers => ({
  tenantOf: (ownerId) => tenants.of(ownerId, command),
  get allTenants() {
    return caller.role === 'member' ? undefined : tenants.allTenants;
  },
  get firstEvents() {
    return new OwnerFirstEvents(tenants.needs.eventSourcing, caller.userId, command);
  },
  allPositions: (ownerId, stopped) => tenants.needs.live.positions(ownerId, stopped),
  projections,
});
