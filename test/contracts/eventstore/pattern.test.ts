import fc from 'fast-check';
import { compilePattern } from '../../../src/infrastructure/embedded/eventstore/filter/pattern.js';
import { PatternError } from '../../../src/infrastructure/embedded/eventstore/filter/pattern-syntax.js';

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
    '(?<name>a)',
    '\\1',
    '\\bword',
    '(',
    ')',
    'a**',
    '*',
    '[z-a]',
    'a{3,2}',
    'a{1000}',
    'x'.repeat(1001),
    '(a{100}){100}',
    '[',
    '\\',
  ])('refuses %j, and says why', (pattern) => {
    expect(() => compilePattern(pattern)).toThrow(PatternError);
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
