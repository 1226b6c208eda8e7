import type { Refusal } from '../../domain/kernel/refusal.js';
import type { Exchange } from './exchange.js';

/** One step of the pipeline. A refusal ends the exchange; undefined lets it pass. */
export interface Step {
  readonly name: string;
  run(exchange: Exchange): Refusal | undefined | Promise<Refusal | undefined>;
}
