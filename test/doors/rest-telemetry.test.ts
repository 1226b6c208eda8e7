import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { makeMetrics } from '../../src/infrastructure/metrics.js';

describe('metrics', () => {
  it('count by label', async () => {
    const metrics = makeMetrics();
    metrics.count('palimpsest_faults_total', { operation: 'a' });
    metrics.count('palimpsest_faults_total', { operation: 'a' });
    metrics.count('palimpsest_faults_total', { operation: 'b' });
    const text = await metrics.text();
    expect(text).toContain('palimpsest_faults_total{operation="a"} 2\n');
    expect(text).toContain('palimpsest_faults_total{operation="b"} 1\n');
  });
  it('count without labels', async () => {
    const metrics = makeMetrics();
    metrics.count('palimpsest_reconnects_total');
    expect(await metrics.text()).toContain('palimpsest_reconnects_total 1\n');
  });
  it('observe into buckets', async () => {
    const metrics = makeMetrics();
    metrics.observe('palimpsest_operation_seconds', 0.003, { door: 'rest' });
    const text = await metrics.text();
    expect(text).toContain('palimpsest_operation_seconds_bucket{le="0.0025",door="rest"} 0\n');
    expect(text).toContain('palimpsest_operation_seconds_bucket{le="0.005",door="rest"} 1\n');
  });
  it('of two makers do not meet', async () => {
    makeMetrics().count('palimpsest_reconnects_total');
    expect(await makeMetrics().text()).not.toContain('palimpsest_reconnects_total');
  });
});

describe('the log', () => {
  // In a process of its own, because it writes to stdout.
  const logged = (level: string, call: string): readonly Readonly<Record<string, unknown>>[] => {
    const file = JSON.stringify(join(__dirname, '../../src/infrastructure/logger.ts'));
    const script = `const { makeLogger } = require(${file}); const log = makeLogger({ level: '${level}' }); ${call}; void log.flush().then(() => process.exit());`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--require', 'tsx/cjs', '--eval', script], {
      encoding: 'utf8',
    });
    // Why: a script that fails writes no line, which is what the level test expects.
    expect([status, stderr]).toEqual([0, '']);
    const lines = stdout.trimEnd().split('\n');
    // Each line is an object; the tests look at single members.
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
  };

  it('is a line of JSON for each call', () =>
    expect(logged('info', "log.info({ a: 1 }, 'first'); log.error({ b: 'x\\ny' }, 'second')")).toEqual([
      expect.objectContaining({ level: 30, a: 1, msg: 'first' }),
      expect.objectContaining({ level: 50, b: 'x\ny', msg: 'second' }),
    ]));
  it('leaves out what is below its level', () => expect(logged('warn', "log.info({}, 'first')")).toEqual([]));
  it('writes only the kind of an error that slips in', () => {
    const lines = logged(
      'info',
      "log.error({ err: new TypeError('canary'), cause: new RangeError('canary') }, 'third')",
    );
    expect(lines).toEqual([expect.objectContaining({ err: 'TypeError', cause: 'RangeError', msg: 'third' })]);
    expect(JSON.stringify(lines)).not.toContain('canary');
  });
});
