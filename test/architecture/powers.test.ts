import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operations } from '../../src/application/registry.js';

const folder = join(__dirname, '../../src/application/operations');

/** What reaches beyond the caller's tenant, or is a service of the installation, by operation. A change here is a decision. */
const powers: Readonly<Record<string, readonly string[]>> = {
  'agent.enroll': ['firstEvents', 'harnesses', 'tenantOf'],
  'agent.enrollment.get': ['allTenants'],
  'audit.events': ['allPositions', 'allTenants'],
  'audit.export': ['allTenants'],
  'audit.list': ['allTenants'],
  'audit.verify': ['allTenants'],
  'harness.list': ['harnesses'],
  'key.create': ['apiKeys', 'firstEvents', 'tenantOf'],
  'projection.list': ['projections'],
  'projection.rebuild': ['projections'],
  'research.start': ['models'],
  'user.create': ['apiKeys', 'tenantOf'],
  'user.erase': ['tenantOf'],
  'user.get': ['allTenants'],
  'workspace.member.add': ['tenantOf'],
};

/** Ports whose types an operation may name, and the powers that bring them. */
const portsOf: Readonly<Record<string, readonly string[]>> = {
  'read-models': ['allTenants'],
  'projection-control': ['projections'],
  models: ['models'],
};

const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));

const familyOf = (path: string) => path.split('/')[0];

/** The names in every `uses` of the family that a file belongs to. */
const usedAround = (path: string) =>
  sources
    .filter((other) => familyOf(other.path) === familyOf(path))
    .flatMap(({ text }) =>
      [...text.matchAll(/^ {2}uses: \[(.*)\],$/gm)].flatMap(([, names]) => names?.match(/\w+/g) ?? []),
    );

describe('the powers of operations', () => {
  it('are the written ones', () => {
    const declared = operations.flatMap(({ name, uses }) => (uses ? [[name, [...uses].sort()] as const] : []));
    expect(Object.fromEntries(declared)).toEqual(powers);
  });

  it('are handed to them: no operation imports them', () => {
    expect(sources.length).toBeGreaterThan(operations.length);
    const importers = sources.filter(({ text }) => text.includes('/tenancy/system-powers.js'));
    expect(importers.map(({ path }) => path)).toEqual([]);
  });

  it('are the only ports that an operation knows', () => {
    const foreign = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/\/ports\/([\w-]+)\.js'/g)]
        .filter(([, port = '']) => !portsOf[port]?.some((power) => usedAround(path).includes(power)))
        .map(([, port]) => `${path} knows ${String(port)}`),
    );
    expect(foreign).toEqual([]);
  });
});
