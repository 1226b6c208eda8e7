import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';
import type { Metrics } from '../application/ports/telemetry.js';

type Labels = Readonly<Record<string, string>>;

/** Most things take milliseconds, and after 10 s a caller has been answered otherwise. */
const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counters and histograms, each made when its name is first used; the first use also decides its labels. */
export function makeMetrics(): Metrics & { readonly contentType: string; text(): Promise<string> } {
  const registry = new Registry();
  const counters = new Map<string, Counter>();
  const histograms = new Map<string, Histogram>();
  collectDefaultMetrics({ register: registry });

  const described = (name: string, labels: Labels) => ({
    name,
    help: name.replace('palimpsest_', '').replaceAll('_', ' '),
    labelNames: Object.keys(labels),
    registers: [registry],
  });

  return {
    count(name, labels = {}) {
      const counter = counters.get(name) ?? new Counter(described(name, labels));
      counters.set(name, counter);
      counter.inc(labels);
    },
    observe(name, value, labels = {}) {
      const histogram = histograms.get(name) ?? new Histogram({ ...described(name, labels), buckets: secondsBuckets });
      histograms.set(name, histogram);
      histogram.observe(labels, value);
    },
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}
