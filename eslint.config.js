import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['dist/', '.tap/', 'node_modules/', '**/*.mjs', 'eslint.config.js'] },
  ...tseslint.configs.strictTypeChecked,
  {
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
)
