import { refuse } from '../../../domain/kernel/refusal.js';
import type { Watermark } from '../../ports/read-models.js';
import type { Step } from '../step.js';

const waitMs = 2_000;

/** Waits until the read models have reached the position that the request names. */
export const awaitMinPosition = (watermark: Watermark): Step => ({
  name: 'await min position',
  async run({ envelope: { minPosition } }) {
    if (minPosition === undefined || (await watermark.waitFor(minPosition, waitMs))) return undefined;
    return refuse('unavailable', 'The read models have not reached that position yet.', { retryAfterSeconds: 1 });
  },
});
