import type { EventSourcing } from '../event-sourcing/append.js';
import type { LiveFeed } from '../event-sourcing/live-feed/live-feed.js';
import type { CredentialVault } from '../ports/credential-vault.js';
import type { ScratchpadStore } from '../ports/scratchpad-store.js';

/** What tenants stand on; one set for a process. */
export interface TenancyNeeds {
  readonly eventSourcing: EventSourcing;
  readonly scratchpadStore: ScratchpadStore;
  readonly live: LiveFeed;
  readonly vault: CredentialVault;
}
