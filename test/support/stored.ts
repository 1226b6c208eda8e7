import { randomUUID } from 'node:crypto';
import { encode } from '../../src/application/event-sourcing/codec.js';
import type { NewEvent } from '../../src/application/ports/event-store.js';
import type { PersonalDataKeys } from '../../src/application/ports/personal-data-keys.js';
import type { DomainEvent } from '../../src/domain/kernel/aggregate.js';

const at = '2026-01-02T03:04:05.678Z';

/** An event as a command of this owner would store it. */
export async function stored(subjects: PersonalDataKeys, ownerId: string, event: DomainEvent): Promise<NewEvent> {
  const metadata = { $correlationId: randomUUID(), ownerId, actor: { type: 'user' as const, id: ownerId }, at };
  return encode(randomUUID(), event, metadata, await subjects.sealingKey(ownerId));
}

export const threadCreated = (threadId: string, ownerId: string, title = `Title of ${threadId}`): DomainEvent => ({
  type: 'thread.created',
  data: { threadId, ownerId, title, metadata: {} },
});

export const threadUpdated = (threadId: string, title: string): DomainEvent => ({
  type: 'thread.updated',
  data: { threadId, title, metadata: {} },
});

export const threadDeleted = (threadId: string): DomainEvent => ({
  type: 'thread.deleted',
  data: { threadId, scratchpadId: null },
});
