// Where files belong: the folders of `src/application` in their order, and the homes of files that have not moved yet.

const application = 'src/application/';

/** Lower imports nothing higher; folders of one line do not import each other. */
const order = [
  ['kernel'],
  ['faults'],
  ['ports'],
  ['event-sourcing'],
  ['access'],
  ['thread', 'scratchpad', 'enrollment', 'audit'],
  ['tenancy'],
  ['erasure', 'operation'],
  ['operations'],
  ['registry', 'gateway'],
  ['agents'],
  ['research', 'jobs', 'chat', 'standing'],
  ['reactions'],
];
const ranks = new Map(order.flatMap((folders, rank) => folders.map((folder) => [folder, rank])));

/** Files that have not moved yet, by the folder that most of each goes to. Goes when the last of them has moved. */
const homes = {
  kernel: 'ids secret schemas canonical parse ledger/in-parallel',
  ports: 'ports vault model',
  'event-sourcing': 'transact loaded gathered-appends codec',
  access: 'administrator authenticate caller keys',
  scratchpad:
    'pads pad-content pad-view pad-events ledger/reconcile ledger/realign ledger/names ledger/tell ledger/verify',
  'scratchpad/entries': 'pad-kinds pad-entries ledger/complete-clear pad-reading pad-filter entry-fields',
  'scratchpad/maintenance': 'ledger/auditor ledger/audit-entries ledger/sweep ledger/sights purged',
  thread: 'thread-texts thread-messages',
  audit: 'audit-chain audit-shown',
  erasure: 'erasure',
  enrollment: 'harnesses',
  tenancy: 'system-work',
  operation: 'operation context cursors refusal-codes tools lists may-call bound-pad',
  registry: 'registry',
  gateway: 'gateway live-reply',
  agents: 'research/converse research/acting research/pad-tools research/endings research/shortened research/seats',
};
const homeOf = new Map(
  Object.entries(homes).flatMap(([home, files]) => files.split(' ').map((file) => [`${application}${file}.ts`, home])),
);

export const isApplication = (path) => path.startsWith(application);

/** What wires everything: later `src/composition/`, today the files directly in `src` beside the entry. */
export const isComposition = (path) =>
  path.startsWith('src/composition/') || (/^src\/[^/]+\.ts$/.test(path) && path !== 'src/main.ts');

/** The file's place below `src/application` once it has moved there. */
export function placeInside(path) {
  const home = homeOf.get(path);
  return home === undefined ? path.slice(application.length) : `${home}/${path.split('/').at(-1)}`;
}

const folderOf = (path) => placeInside(path).split('/')[0];

/** Rule 2. A folder that the order does not name may not import another, nor be imported: its rank has to be written. */
export function isAgainstOrder({ from, to }) {
  if (!isApplication(from) || !isApplication(to)) return false;
  const [source, target] = [folderOf(from), folderOf(to)];
  if (source === target) return false;
  const [low, high] = [ranks.get(target), ranks.get(source)];
  return low === undefined || high === undefined || low >= high;
}

const doors = ['rest', 'mcp', 'cli', 'sdk', 'chat', 'dashboard'];
const httpDoors = ['rest', 'mcp', 'chat', 'dashboard'];
const interfaceOf = (path) => /^src\/interfaces\/([^/]+)\//.exec(path)?.[1];

/** Rule 7: a door imports no other door; what HTTP doors share is for them alone. */
export function isDoorToDoor({ from, to }) {
  const [source, target] = [interfaceOf(from), interfaceOf(to)];
  if (!doors.includes(source) || source === target) return false;
  return target === 'http' ? !httpDoors.includes(source) : doors.includes(target);
}

const isInfrastructure = (path) => path.startsWith('src/infrastructure/');
const isGateway = (path) => isApplication(path) && folderOf(path) === 'gateway';
const isEmbedded = (path) => path.startsWith('src/infrastructure/embedded/');

export const isInfrastructureToGateway = ({ from, to }) => isInfrastructure(from) && isGateway(to);
export const isAdapterToEmbedded = ({ from, to }) => isInfrastructure(from) && !isEmbedded(from) && isEmbedded(to);

export const isInsideScratchpad = (path) => isApplication(path) && folderOf(path) === 'scratchpad';

/** Rule 3: outside, only the façades and the limits are known, and to the wiring what runs over all pads. */
export function isIntoScratchpad({ from, to, isTypeOnly }) {
  if (!isInsideScratchpad(to) || isInsideScratchpad(from)) return false;
  const inner = placeInside(to).slice('scratchpad/'.length);
  if (inner === 'scratchpads.ts' || inner === 'limits.ts') return false;
  if (inner === 'pad.ts') return !isTypeOnly;
  return !(isComposition(from) && inner.startsWith('maintenance/'));
}

const portFiles = ['ledger-store', 'content-store', 'pad-keys', 'ledger-repair', 'dirty-pads', 'connection-epoch'];
const padPorts = ['LedgerStore', 'ContentStore', 'PadKeys', 'LedgerRepair', 'DirtyPads', 'ConnectionEpoch'];
const padPortsToday = ['WorkingState', 'Entry', 'IndexedEntry', 'PadContent', 'LedgerElements', 'Pushed', 'PadState'];
const portNames = new Set(padPorts.concat(padPortsToday, 'PadRef'));
const mayUsePads = ['src/infrastructure/redis/', 'src/infrastructure/memory/'];
const purgeQueue = [
  'src/infrastructure/bullmq/purges.ts',
  `${application}ports/work-queues.ts`,
  `${application}ports.ts`,
];

/** Rule 5: who may not know a port of the scratchpad store and names one nevertheless. `ScratchpadStore` bundles them. */
export function isPadPortOutside({ from, to, names }) {
  if (!isApplication(to) || folderOf(to) !== 'ports') return false;
  const isPortFile = portFiles.some((name) => to.endsWith(`/ports/${name}.ts`));
  if (from === `${application}ports/scratchpad-store.ts`) return false;
  if (isPortFile && portFiles.some((name) => from.endsWith(`/ports/${name}.ts`))) return false;
  const used = isPortFile ? names : names.filter((name) => portNames.has(name));
  if (used.length === 0 || isInsideScratchpad(from) || isComposition(from)) return false;
  if (mayUsePads.some((folder) => from.startsWith(folder))) return false;
  return !(purgeQueue.includes(from) && used.every((name) => name === 'PadRef'));
}
