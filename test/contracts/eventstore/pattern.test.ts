import fc from 'fast-check';
import { compilePattern, PatternError } from '../../../src/infrastructure/embedded/eventstore/filter/pattern.js';

describe('a filter pattern', () => {
  it.each([
    ['^\\$', '$metadata', true],
    ['^[^$].*', '$metadata', false],
    ['^[^$].*', 'order', true],
    ['^order-(placed|paid)$', 'order-paid', true],
    ['^order-(placed|paid)$', 'order-paid-late', false],
    ['a{2,3}b', 'aab', true],
    ['^a{2,3}b', 'aaaab', false],
    ['', 'anything', true],
    ['^$', '', true],
    ['^$', 'x', false],
    ['\\d+\\.\\w', '42.x', true],
    ['[\\w-]+@[a-z.]+', 'me-too@example.org', true],
    ['ä.ü', 'xäöüx', true],
    ['(?:ab)*c$', 'ababc', true],
    ['x*', '', true],
  ])('%j on %j says %j', (pattern, text, expected) => {
    expect(compilePattern(pattern)(text)).toBe(expected);
    expect(new RegExp(pattern).test(text)).toBe(expected);
  });

  it.each([
    '(?=a)',
    '(?!a)',
    '(?<=a)b',
    '(?<!a)b',
    '(a)\\1',
    '(?<name>a)\\k<name>',
    '(?>a)',
    '\\Z',
    '(',
    ')',
    'a**',
    '*',
    '[z-a]',
    'a{3,2}',
    'a{1000}',
    'x'.repeat(1001),
    '(a{100}){100}',
    '((a{50}){5}){5}',
    `(${'a?'.repeat(400)}){20}`,
    'a?'.repeat(20) + '[^a]{100}'.repeat(20),
    '[',
    '\\',
  ])('refuses %j, and says why', (pattern) => {
    expect(() => compilePattern(pattern)).toThrow(PatternError);
  });

  // Where EventStoreDB's patterns (.NET) and JavaScript's differ, the former count.
  it.each([
    ['a.b', 'a\rb', true],
    ['a.b', 'a\nb', false],
    ['(?i)^ORDER', 'order-1', true],
    ['(?<year>\\d{4})-', '2026-01', true],
    ['\\bpaid\\b', 'was paid late', true],
    ['\\bpaid\\b', 'unpaid', false],
    ['\\Aorder\\z', 'order', true],
    ['^\\p{Lu}', 'Ägir', true],
    ['^[\\u00e0-\\u00ff]\\x41$', 'äA', true],
    ['\\\\u00e4', '\\u00e4', true],
    ['[]a]', ']', true],
  ])('%j on %j says %j, as in EventStoreDB', (pattern, text, expected) => {
    expect(compilePattern(pattern)(text)).toBe(expected);
  });

  it.each([
    '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    '^([a-z0-9]{1,63}\\.){1,8}[a-z]{2,63}$',
    '[^a]{100}',
    'x'.repeat(1000),
  ])('takes %j', (pattern) => {
    expect(compilePattern(pattern)('')).toBe(false);
  });

  it('is taken or refused, whatever it is', () => {
    const pieces = fc.constantFrom(
      ...'ab(|)[]^-$.*+?{,}\\\\12uxpPdQE:=!<>iä'.split(''),
      '(?',
      '[[:alpha:]]',
      '{3}',
      '\\p{L}',
    );
    fc.assert(
      fc.property(fc.string({ unit: pieces, maxLength: 12 }), (pattern) => {
        try {
          expect(typeof compilePattern(pattern)('a1ä')).toBe('boolean');
        } catch (fault) {
          expect(fault).toBeInstanceOf(PatternError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  const unit = fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\w', '\\.');
  const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '*?');
  const { pattern: patterns } = fc.letrec<{ pattern: string; term: string }>((tie) => ({
    pattern: fc.array(tie('term'), { minLength: 1, maxLength: 3 }).map((terms) => terms.join('')),
    term: fc.oneof(
      { depthSize: 'small', maxDepth: 2 },
      fc.tuple(unit, quantifier).map(([one, count]) => `${one}${count}`),
      fc
        .tuple(tie('pattern'), tie('pattern'), fc.constantFrom('', '*', '?'))
        .map(([one, other, count]) => `(${one}|${other})${count}`),
    ),
  }));

  it('means what it means elsewhere', () => {
    const anchored = fc
      .tuple(fc.constantFrom('', '^'), patterns, fc.constantFrom('', '$'))
      .map((parts) => parts.join(''));
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.', '\n'), maxLength: 8 });
    fc.assert(
      fc.property(anchored, fc.array(texts, { minLength: 5, maxLength: 5 }), (pattern, samples) => {
        const matches = compilePattern(pattern);
        for (const text of samples) expect(matches(text)).toBe(new RegExp(pattern).test(text));
      }),
      { numRuns: 500 },
    );
  });
});
