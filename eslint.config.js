import tseslint from 'typescript-eslint'
import { linearExpressions } from './scripts/linear-expressions.mjs'

export default tseslint.config(
  { ignores: ['dist/', '.tap/', 'node_modules/', 'test/**/*.mjs'] },
  {
    // Those of tests read what tests have made.
    ignores: ['test/**'],
    plugins: { cachefleet: linearExpressions },
    rules: { 'cachefleet/linear-expressions': 'error' },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // Numbers and booleans print as themselves; objects still do not.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      'max-lines': ['error', 350],
      'max-params': ['error', 4],
      complexity: ['error', 12],
    },
  },
  {
    files: ['{src,protocol,config}/**/*.{ts,tsx}'],
    rules: { 'max-lines-per-function': ['error', 80] },
  },
)
