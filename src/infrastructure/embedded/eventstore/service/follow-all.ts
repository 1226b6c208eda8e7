import type { Engine } from '../engine/engine.js';
import type { StoredEvent } from '../engine/events.js';
import { PAGE_EVENTS } from '../engine/limits.js';
import type { Filter } from '../filter/filter.js';
import type { Call } from '../grpc/call.js';
import { caughtUpFrame, checkpointFrame } from '../protocol/read-response.js';
import type { EventSender } from './event-sender.js';
import { fromStorage } from './from-storage.js';
import { Alarm } from './wake.js';

/** Follows all events from behind a position on, first from storage, then from memory as they are committed. */
export async function followAll(
  engine: Engine,
  call: Call,
  from: number | 'start' | 'end',
  filter: Filter | undefined,
  sender: EventSender,
): Promise<void> {
  const alarm = new Alarm(engine, call, undefined);
  const follower = new Follower(from === 'start' ? 0 : from === 'end' ? engine.watermark : from, filter, sender);
  let live = false;
  while (call.open) {
    const recent = engine.serving ? engine.recent.after(follower.cursor) : undefined;
    if (recent === undefined) {
      const range = { from: follower.cursor + 1, backwards: false, limit: PAGE_EVENTS };
      const page = (await fromStorage(engine, call, () => engine.store.readAll(range))) ?? [];
      await follower.take(page, false);
      if (page.length === PAGE_EVENTS) live = false;
      if (page.length > 0) continue;
    } else if (recent.length > 0) {
      await follower.take(recent, true);
      continue;
    }
    if (!live) await follower.catchUp();
    live = true;
    await alarm.sleep();
  }
}

class Follower {
  private considered = 0;
  private checkpoint = 0;

  constructor(
    /** Position of the last event considered. */
    public cursor: number,
    private readonly filter: Filter | undefined,
    private readonly sender: EventSender,
  ) {}

  async take(events: readonly StoredEvent[], shared: boolean): Promise<void> {
    const last = events.at(-1);
    if (!last) return;
    this.cursor = last.position;
    if (this.filter) await this.takeMatching(events, this.filter, shared);
    else await (shared ? this.sender.sendShared(events, true) : this.sender.send(events));
  }

  /** Says that everything known was sent. */
  async catchUp(): Promise<void> {
    if (this.filter && this.cursor > 0) await this.sendCheckpoint(this.cursor);
    await this.sender.write(caughtUpFrame());
  }

  private async takeMatching(events: readonly StoredEvent[], filter: Filter, shared: boolean): Promise<void> {
    let matching: StoredEvent[] = [];
    const flush = async (): Promise<void> => {
      await (shared ? this.sender.sendShared(matching, false) : this.sender.send(matching));
      matching = [];
    };
    for (const event of events) {
      if (filter.matches(event)) matching.push(event);
      this.considered += 1;
      if (this.considered < filter.checkpointAfter) continue;
      await flush();
      await this.sendCheckpoint(event.position);
    }
    await flush();
  }

  private async sendCheckpoint(position: number): Promise<void> {
    this.considered = 0;
    if (position <= this.checkpoint) return;
    this.checkpoint = position;
    await this.sender.write(checkpointFrame(position));
  }
}
