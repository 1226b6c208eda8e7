import type { Watermark } from '../../ports/read-models.js';
import type { Step } from '../step.js';

const projectionWaitMs = 1_000;

/** Waits until the read models show what the command stored, so that its caller reads it. Bounded: it never refuses. */
export const awaitProjection = (watermark: Watermark): Step => ({
  name: 'await projection',
  run({ operation, request, command: { position } }) {
    if (position === undefined || operation.awaitsProjection === false || request.respondAsync) return undefined;
    return watermark.waitFor(position, projectionWaitMs).then(() => undefined);
  },
});
