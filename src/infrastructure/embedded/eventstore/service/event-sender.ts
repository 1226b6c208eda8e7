import type { Engine } from '../engine/engine.js';
import { LINK_TYPE, type StoredEvent } from '../engine/events.js';
import type { Call } from '../grpc/call.js';
import type { ReadRequest } from '../protocol/read-request.js';
import { eventFrame } from '../protocol/read-response.js';
import { fromStorage } from './from-storage.js';

/** A reader begins with the first while the next are on their way. */
const WRITE_BYTES = 8 * 1024;

/** Encoded once, sent to everyone who follows closely: the events of a commit one by one, and all together. */
const frames = new WeakMap<StoredEvent, Buffer>();
const blocks = new WeakMap<readonly StoredEvent[], Buffer>();

/** Sends events over one call as fast as its reader takes them, in the form that was asked for. */
export class EventSender {
  private readonly plain: boolean;

  constructor(
    private readonly engine: Engine,
    private readonly call: Call,
    private readonly request: Pick<ReadRequest, 'resolveLinks' | 'uuids' | 'count'>,
  ) {
    this.plain = request.uuids === 'string';
  }

  /** Sends events from storage. */
  async send(events: readonly StoredEvent[]): Promise<void> {
    let chunk: Buffer[] = [];
    let bytes = 0;
    for (const event of events) {
      const link = this.request.resolveLinks && event.type === LINK_TYPE;
      const frame = link ? await this.linkFrame(event) : eventFrame({ event, link: undefined }, this.request.uuids);
      chunk.push(frame);
      bytes += frame.length;
      if (bytes < WRITE_BYTES) continue;
      await this.write(Buffer.concat(chunk, bytes));
      chunk = [];
      bytes = 0;
      if (!this.call.open) return;
    }
    if (bytes > 0) await this.write(Buffer.concat(chunk, bytes));
  }

  /** Sends events that others are sent as well. `whole` says that these are all of a commit. */
  async sendShared(events: readonly StoredEvent[], whole: boolean): Promise<void> {
    const links = this.request.resolveLinks && events.some((event) => event.type === LINK_TYPE);
    if (!this.plain || links) return this.send(events);
    let block = whole ? blocks.get(events) : undefined;
    if (!block) {
      block = Buffer.concat(events.map(sharedFrame));
      if (whole) blocks.set(events, block);
    }
    if (block.length > 0) await this.write(block);
  }

  async write(bytes: Buffer): Promise<void> {
    if (!this.call.write(bytes)) await this.call.room();
  }

  private async linkFrame(link: StoredEvent): Promise<Buffer> {
    const target = /^(\d+)@(.+)$/su.exec(link.data.toString('utf8'));
    const event = target ? await this.eventAt(target[2] ?? '', Number(target[1])) : undefined;
    return eventFrame({ event, link }, this.request.uuids);
  }

  private async eventAt(stream: string, revision: number): Promise<StoredEvent | undefined> {
    const find = (): Promise<StoredEvent | undefined> => this.engine.reader.target(stream, revision);
    return this.request.count === undefined ? fromStorage(this.engine, this.call, find) : find();
  }
}

function sharedFrame(event: StoredEvent): Buffer {
  let frame = frames.get(event);
  if (!frame) {
    frame = eventFrame({ event, link: undefined }, 'string');
    frames.set(event, frame);
  }
  return frame;
}
