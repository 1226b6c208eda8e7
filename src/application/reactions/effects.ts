import { decode, ownersOf } from '../event-sourcing/codec.js';
import { BackendUnavailable, OutcomeUnknown } from '../faults/errors.js';
import { pause } from '../kernel/concurrency/repeat-every.js';
import type { EventStore, StoredEvent } from '../ports/event-store.js';
import type { PersonalDataKey, PersonalDataKeys } from '../ports/personal-data-keys.js';
import type { ReactionJournal } from '../ports/reaction-journal.js';
import type { Logger, Metrics } from '../ports/telemetry.js';
import type { Reaction } from './reaction.js';

export interface EffectsNeeds {
  readonly events: EventStore;
  readonly personalDataKeys: PersonalDataKeys;
  readonly reactions: readonly Reaction[];
  /** Reads the faults of drivers: whether a backend is away, and a name that is safe to log and to store. */
  readonly faults: { isOutage(fault: unknown): boolean; nameOf(fault: unknown): string };
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly pauseMs: number;
}

const maxTries = 10;
const longestPauseMs = 2_000;
const noKeys: ReadonlyMap<string, PersonalDataKey> = new Map();

/** Has the effects of single events: tries each again with growing pauses, then parks it. */
export class Effects {
  constructor(
    private readonly needs: EffectsNeeds,
    private readonly journal: ReactionJournal,
    private readonly over: AbortSignal,
  ) {}

  /** Has every reaction's effect of an event, or parks it. Fails when: the run is over. */
  async of(event: StoredEvent, after?: Promise<void>): Promise<void> {
    await after;
    for (const reaction of this.needs.reactions) {
      if (Object.hasOwn(reaction.on, event.type)) await this.effectOrPark(reaction, event);
    }
  }

  private async effectOrPark(reaction: Reaction, event: StoredEvent): Promise<void> {
    const { faults, logger, metrics, pauseMs } = this.needs;
    for (let tries = 1, wait = pauseMs; ; wait = Math.min(wait * 2, longestPauseMs)) {
      this.over.throwIfAborted();
      try {
        return await this.effect(reaction, event);
      } catch (fault) {
        const name = faults.nameOf(fault);
        const isOfEvent = !this.isBackendAway(fault);
        if (isOfEvent && tries >= maxTries) return this.park(reaction, event, name);
        if (isOfEvent) tries += 1;
        metrics.count('palimpsest_reaction_failures_total', { reaction: reaction.name });
        logger.warn({ reaction: reaction.name, eventId: event.id, tries, fault: name }, 'an effect failed');
        await pause(wait, this.over);
      }
    }
  }

  private async effect({ on, needsPersonalData }: Reaction, event: StoredEvent): Promise<void> {
    const { personalDataKeys } = this.needs;
    const keys = needsPersonalData === false ? noKeys : await personalDataKeys.openingKeys(ownersOf([event]));
    await on[event.type]?.(decode(event, keys));
  }

  private async park({ name }: Reaction, event: StoredEvent, fault: string): Promise<void> {
    await this.journal.park(name, event, fault);
    const { id: eventId, stream, revision } = event;
    this.needs.metrics.count('palimpsest_reaction_parked_total', { reaction: name });
    this.needs.logger.error({ reaction: name, eventId, stream, revision, fault }, 'an effect was parked');
  }

  /** Tries what an earlier run parked once more, in order: what it needed may be there now. */
  async retryParked(): Promise<void> {
    for (const { reaction: name, eventId, stream, revision } of await this.journal.parked()) {
      const reaction = this.needs.reactions.find((one) => one.name === name);
      const [event] = await this.needs.events.readStream(stream, revision, 1);
      if (!reaction || event?.id !== eventId) continue;
      // It stays parked when it fails again: the next run tries it once more.
      const isDone = await this.effect(reaction, event).then(
        () => true,
        () => false,
      );
      if (isDone) await this.journal.unpark(name, eventId);
    }
  }

  private isBackendAway(fault: unknown): boolean {
    return fault instanceof BackendUnavailable || fault instanceof OutcomeUnknown || this.needs.faults.isOutage(fault);
  }
}
