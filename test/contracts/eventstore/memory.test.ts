import { startEventStore } from '../../../src/infrastructure/embedded/eventstore/server.js';
import { embeddedConformance } from './conformance/conformance.js';

embeddedConformance('the embedded event store in memory', () => startEventStore({ memory: true }));
