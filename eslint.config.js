import boundaries from 'eslint-plugin-boundaries';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

// Who may import whom. A module is a folder of src; what is not listed is an error.
const layers = {
  random: [],
  environments: ['random'],
  gpu: ['random'],
  rollouts: ['environments', 'random'],
  estimators: ['rollouts', 'random'],
  analysis: ['estimators', 'rollouts', 'environments', 'random'],
  policy: ['gpu', 'rollouts', 'environments', 'random'],
  training: ['policy', 'gpu', 'analysis', 'estimators', 'rollouts', 'environments', 'random'],
  workers: ['training', 'policy', 'gpu', 'analysis', 'estimators', 'rollouts', 'environments', 'random'],
  cli: ['workers', 'training', 'policy', 'gpu', 'analysis', 'estimators', 'rollouts', 'environments', 'random'],
  app: ['workers', 'analysis', 'estimators', 'rollouts'],
};
const modules = Object.keys(layers);

// The pure modules have no clock, no global random source, no page and no GPU.
const pure = ['random', 'environments', 'estimators', 'analysis', 'rollouts'];
const impure = (name) => ({ name, message: 'This module is pure: pass what it needs as an argument.' });

export default tseslint.config(
  { ignores: ['dist', '.cache', 'node_modules', 'test-results', 'playwright-report'] },
  ...tseslint.configs.strict,
  {
    files: ['src/**/*.{ts,tsx}', 'e2e/**/*.ts', '*.config.ts'],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      // Typed arrays are indexed everywhere; an assertion there is a statement about a loop bound, not a hidden hazard.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: ['error', 'always'],
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    plugins: { boundaries },
    settings: {
      'boundaries/elements': [
        { type: 'testing', pattern: 'src/testing' },
        ...modules.map((name) => ({ type: name, pattern: `src/${name}` })),
      ],
      'boundaries/files': [{ category: 'test', pattern: '**/*.test.{ts,tsx}' }],
    },
    rules: {
      'boundaries/dependencies': [
        'error',
        {
          default: 'disallow',
          message:
            '{{from.element.types}} may not import {{to.element.types}}: see the layer table in eslint.config.js',
          policies: [
            { allow: { to: { module: { origin: ['external', 'core'] } } } },
            ...modules.map((name) => ({
              from: { element: { type: name } },
              allow: { to: { element: { types: { anyOf: [name, ...layers[name]] } } } },
            })),
            // Tests, and what only tests use, may read fixtures and fakes; nothing else imports src/testing.
            {
              from: { file: { categories: 'test' } },
              allow: { to: { element: { type: 'testing' } } },
            },
            { from: { element: { type: 'testing' } }, allow: { to: { element: { types: { anyOf: modules } } } } },
            { from: { element: { type: 'testing' } }, allow: { to: { element: { type: 'testing' } } } },
          ],
        },
      ],
    },
  },
  {
    files: pure.map((name) => `src/${name}/**/*.{ts,tsx}`),
    ignores: ['**/*.test.{ts,tsx}'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['window', 'document', 'navigator', 'performance', 'Date', 'crypto', 'process', 'self', 'fetch'].map(impure),
      ],
      'no-restricted-properties': [
        'error',
        {
          object: 'Math',
          property: 'random',
          message: 'Draw from a RandomStream (src/random) that the caller passes.',
        },
      ],
    },
  },
  {
    files: ['src/app/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': reactHooks },
    rules: reactHooks.configs.recommended.rules,
  },
  { files: ['**/*.mjs', '*.js'], rules: { '@typescript-eslint/no-unused-vars': 'error' } },
);
