/* global __dirname */
// A projector in a process of its own, to be killed: `node projector-process.cjs <database url> <history file> <batch size>`.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const built = join(__dirname, '../../dist');
const { MemoryEventStore } = require(join(built, 'src/infrastructure/memory/event-store.js'));
const { openDatabase } = require(join(built, 'src/infrastructure/postgres/database.js'));
const { makePersonalDataKeys } = require(join(built, 'src/infrastructure/postgres/personal-data-keys.js'));
const { startProjector } = require(join(built, 'src/infrastructure/projector/projector.js'));
const { projections } = require(join(built, 'projections/index.js'));

const [, , url, historyFile, batchSize] = process.argv;
const kek = Buffer.alloc(32, 1);
const log = { info() {}, warn() {}, error() {} };
const events = new MemoryEventStore();
const personalDataKeys = makePersonalDataKeys(openDatabase({ url, kek, log }).system, kek);

async function main() {
  // The same history in the same order has the same positions in every process.
  for (const { stream, event } of JSON.parse(readFileSync(historyFile, 'utf8')))
    await events.append(stream, 'any', [event]);
  const metrics = { count() {}, observe() {} };
  startProjector({ url, events, personalDataKeys, projections, log, metrics, batchSize: Number(batchSize) });
}

void main();
