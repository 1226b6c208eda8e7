import type { Engine } from '../engine/engine.js';
import type { Call } from '../grpc/call.js';

/** Lets a subscription sleep until something happened since it last looked, or until its call is over. */
export class Alarm {
  private rung = false;
  private ring: (() => void) | undefined;

  constructor(engine: Engine, call: Call, stream: string | undefined) {
    const wake = (): void => {
      this.rung = true;
      this.ring?.();
    };
    const stop = engine.watchers.add(stream, wake);
    call.onClose(() => {
      stop();
      wake();
    });
  }

  async sleep(): Promise<void> {
    if (!this.rung) await new Promise<void>((resolve) => (this.ring = resolve));
    this.rung = false;
    this.ring = undefined;
  }
}
