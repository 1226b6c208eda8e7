import type { Config } from '../infrastructure/config.js';
import { makeCrashPoints } from '../infrastructure/crash-points.js';
import { makeMetrics } from '../infrastructure/metrics.js';
import { load, type Module, type Services } from './bind.js';
import { background } from './modules/background.js';
import { enrollment } from './modules/enrollment.js';
import { eventSourcing } from './modules/event-sourcing.js';
import { gateway } from './modules/gateway.js';
import { research } from './modules/research.js';
import { scratchpads } from './modules/scratchpads.js';
import { storage } from './modules/storage.js';
import { T, type Backends, type ProcessLogger } from './tokens.js';

/** Wires everything. `more` are loaded last: what they bind stands in place of what was bound before. */
export function makeContainer(
  config: Config,
  backends: Backends,
  logger: ProcessLogger,
  metrics = makeMetrics(),
  more: readonly Module[] = [],
): Services {
  const given: Module = (bind) => {
    bind(T.config, [], () => config);
    bind(T.backends, [], () => backends);
    bind(T.logger, [], () => logger);
    bind(T.metrics, [], () => metrics);
    bind(T.clock, [], () => ({ now: () => new Date() }));
    bind(T.crashPoints, [], () => makeCrashPoints(config.crashAt));
  };
  return load([given, storage, eventSourcing, scratchpads, enrollment, gateway, research, background, ...more]);
}
