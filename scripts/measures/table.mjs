// The table of measures: what each row counts, today's value, the target, and where what is counted stands.
import { bannedWord, privateNames, privateWords, spreadLiterals } from './words.mjs';
import { circles, imports } from './imports.mjs';
import { consistencyCalls, filesPerOperation, ownerToPad, placesPerService } from './ways.mjs';
import { deadCitations, readme } from './documents.mjs';
import * as layout from './layout.mjs';
import * as sizes from './sizes.mjs';

/** One number of a row. `isMet` is the only judgement; `where` lists what was counted. */
const atMost = (key, value, most, where = []) => ({ key, value, target: `≤ ${most}`, isMet: value <= most, where });
const exactly = (key, value, wanted, where = []) => ({
  key,
  value,
  target: String(wanted),
  isMet: value === wanted,
  where,
});
const none = (key, found) => exactly(key, found.length, 0, found.map(placeOf));

const placeOf = (found) => found.place ?? `${found.from}:${found.line} → ${found.to}`;
const sized = (found) => found.map(({ place, size }) => `${place} (${size})`);
const filesIn = (found) => new Set(found.map(({ path }) => path)).size;

/** Of nothing found there is no largest: then the measure itself has lost its subject. */
const largest = (key, found, most) => {
  const tooLarge = sized(found.filter(({ size }) => size > most));
  const number = atMost(key, found[0]?.size ?? 0, most, tooLarge);
  return { ...number, isMet: number.isMet && found.length > 0 };
};

function sizeRows() {
  const long = sizes.allFunctions().filter(({ size }) => size > 40);
  const loose = sizes.looseFiles();
  return [
    row('largest file of src/application; of src without embedded/', [
      largest('application-file', sizes.applicationFiles(), 150),
      largest('file', sizes.ownFiles(), 240),
    ]),
    row('largest function of src/application and composition; of src; functions over 40 lines', [
      largest('core-function', sizes.coreFunctions(), 60),
      largest('function', sizes.allFunctions(), 95),
      atMost('long-functions', long.length, 20, sized(long)),
    ]),
    row('files directly in src/application', [exactly('loose-files', loose.length, 1, loose)]),
  ];
}

function importRows() {
  const found = circles().map((files) => ({ place: files.join(' – ') }));
  const against = (rule) => imports.filter(rule);
  return [
    row('import circles, types included; imports against rule 2', [
      none('circles', found),
      none('order', against(layout.isAgainstOrder)),
    ]),
    row('imports door → door; infrastructure → gateway; adapter → embedded/', [
      none('doors', against(layout.isDoorToDoor)),
      none('to-gateway', against(layout.isInfrastructureToGateway)),
      none('to-embedded', against(layout.isAdapterToEmbedded)),
    ]),
  ];
}

function scratchpadRows() {
  const { byHand, byAuditor, files } = consistencyCalls();
  const owners = ownerToPad();
  const inner = new Set(imports.filter(layout.isIntoScratchpad).map(({ to }) => to));
  const ports = imports.filter(layout.isPadPortOutside);
  return [
    row(`calls of the consistency check outside its file (now in ${files} files); by the auditor`, [
      none('consistency-calls', byHand),
      atMost('auditor-calls', byAuditor.length, 1, byAuditor.map(placeOf)),
    ]),
    row('operation files that pass an owner’s id to reach a pad', [
      exactly('owner-ids', filesIn(owners), 0, owners.map(placeOf)),
    ]),
    row('inner files of scratchpad/ imported from outside; importers of a scratchpad port outside rule 5', [
      exactly('inner-files', inner.size, 0, imports.filter(layout.isIntoScratchpad).map(placeOf)),
      exactly('port-importers', new Set(ports.map(({ from }) => from)).size, 0, ports.map(placeOf)),
    ]),
  ];
}

function interfaceRows() {
  const ports = sizes.portsByWidth();
  const fields = sizes.fieldsOf('OperationContext').map((name) => name.getText());
  return [
    row('widest port; fields of OperationContext', [
      largest('port-width', ports, 6),
      { ...atMost('context-fields', fields.length, 8, fields), isMet: fields.length > 0 && fields.length <= 8 },
    ]),
  ];
}

/** A walk of which a stage cannot be found is not measured, and so not met. */
function walkNumbers(name, mostLines, mostFiles) {
  const { files, lost, lines } = sizes.walkOf(name);
  const where = files.concat(lost.map((stage) => `not found: ${stage}`));
  const numbers = [
    atMost(`${name}-lines`, lines, mostLines, where),
    atMost(`${name}-files`, files.length, mostFiles, where),
  ];
  return numbers.map((number) => ({ ...number, isMet: number.isMet && lost.length === 0 }));
}

const median = (numbers) => numbers.sort((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? 0;

function kitRows() {
  const operations = filesPerOperation();
  const services = placesPerService();
  const story = 1;
  const edited = median(operations.map(({ files }) => files.length)) + story;
  const places = Math.max(0, ...services.map((service) => service.places));
  return [
    row('lines; files from operation to ports, kernel/ aside: append', walkNumbers('append', 600, 8)),
    row('lines; files from operation to ports, kernel/ aside: enrollment', walkNumbers('enrollment', 420, 6)),
    row('files edited to add an operation; places that name a service in the container', [
      exactly(
        'operation-files',
        edited,
        3,
        operations.map(({ name, files }) => `${name}: ${files.join(', ')}`),
      ),
      exactly(
        'service-places',
        places,
        2,
        services.map((service) => `${service.name}: ${service.places}`),
      ),
    ]),
  ];
}

function wordRows() {
  const names = privateNames();
  const words = Object.keys(privateWords).length;
  return [
    row(`declared names with one of ${words} private words, without embedded/ (now in ${filesIn(names)} files)`, [
      atMost('private-names', names.length, 20, names.map(placeOf)),
    ]),
    row('“told” anywhere', [none('banned-word', bannedWord())]),
    row('citations that resolve nowhere in the repository; spreads of literals', [
      none('dead-citations', deadCitations()),
      none('literal-spreads', spreadLiterals()),
    ]),
  ];
}

function readmeRow() {
  const { lines, picture, walk, glossary } = readme();
  return row('README: lines; has a picture; one walk; links the glossary', [
    atMost('readme-lines', lines, 180),
    yes('readme-picture', picture),
    yes('readme-walk', walk),
    yes('readme-glossary', glossary),
  ]);
}

const yes = (key, isSo) => ({ key, value: isSo ? 'yes' : 'no', target: 'yes', isMet: isSo, where: [] });

const row = (measure, numbers) => ({ measure, numbers });

/** What a run of the program shows and the syntax trees do not. */
const byHand = row('npm run bench ratios: scratchpads, rest, enrollment, live, projection', [
  { key: 'bench', value: 'npm run bench', target: '≥ 0.97', isMet: undefined, where: [] },
]);

export const table = () =>
  [sizeRows, importRows, scratchpadRows, interfaceRows, kitRows, wordRows]
    .flatMap((rows) => rows())
    .concat(readmeRow(), byHand);
