import { startEventStore } from '../../../src/infrastructure/embedded/eventstore/server.js';
import { conformance } from './conformance/conformance.js';

conformance('the embedded event store in memory', () => startEventStore({ memory: true }));
