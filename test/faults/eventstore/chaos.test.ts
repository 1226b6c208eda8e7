import { chaosRun } from './chaos-run.js';

describe('an event store whose processes are killed under load', () => {
  it('loses nothing acknowledged, tears no append, and shows everything once and in order', async () => {
    const report = await chaosRun(4);
    expect(report.faults).toEqual([]);
    expect(report.stored).toBe(report.acknowledged);
    expect(report.seen).toBe(report.stored);
    // A run in which nothing was interrupted has shown nothing.
    expect(report.retries).toBeGreaterThan(0);
    expect(report.interruptions).toBeGreaterThan(0);
  }, 120_000);
});
