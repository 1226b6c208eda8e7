import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Written out, the literal says the same. What spreads under a condition stays: `...(given && { given })`. */
const spreadOfLiteral = 'SpreadElement[argument.type=/^(ObjectExpression|ArrayExpression)$/]';

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/', '.palimpsest/'] },
  js.configs.recommended,
  {
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: spreadOfLiteral, message: 'Write the members of the literal out instead of spreading it.' },
      ],
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Numbers and bigints read well inside a template; objects do not.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        module: 'writable',
        require: 'readonly',
        setTimeout: 'readonly',
        fetch: 'readonly',
        Buffer: 'readonly',
      },
    },
  },
);
