/**
 * Bundles all tests with what they test into `dist/tests`, as a function that runs the files that it is told (`run-files.mjs`):
 * to find, read and compile hundreds of modules was most of the start of a test. Types are `tsc`'s, which compiles each file by
 * itself, too. Libraries with native code, and those that look for their own files, stay apart.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const target = join(root, 'dist', 'tests')
const apart = [
  ...['@node-rs/argon2', 'swagger-ui-dist', 'playwright-core', 'axe-core'],
  ...['oidc-provider', '@tapjs/processinfo', 'light-my-request'],
  // Asked for by others, and not needed.
  ...['pg-native', '@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'],
]
/** Where `new URL('./NAME.js', import.meta.url)` looks for them. */
const threads = {
  'archive-thread': 'src/coordinator/statistics/store/archive-thread.ts',
  'compare-thread': 'src/coordinator/files/compare-thread.ts',
  'simulated-worker': 'src/agent/simulated/simulated-worker.ts',
  'test-file-thread': 'src/coordinator/files/test-file-thread.ts',
}
const shared = {
  absWorkingDir: root,
  outdir: target,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  legalComments: 'none',
  logLevel: 'warning',
}
const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`)

rmSync(target, { recursive: true, force: true })
const [{ outputFiles }] = await Promise.all([
  build({
    ...shared,
    stdin: { resolveDir: root, loader: 'js', contents: writeMain() },
    write: false,
    sourcemap: true,
    sourcesContent: false,
    // What V8 kept of it does not know how to import.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'ownUrl', 'import.meta.dirname': 'ownFolder' },
    plugins: [{ name: 'apart', setup: requireApart }],
  }),
  build({
    ...shared,
    entryPoints: threads,
    external: apart,
    splitting: true,
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  }),
])
mkdirSync(target, { recursive: true })
for (const { path, text } of outputFiles)
  if (path.endsWith('.map')) writeFileSync(join(target, 'tests.js.map'), text)
  else writeFileSync(join(target, 'tests.js'), wrap(text))

function writeMain() {
  const rows = files.map((file) => `${JSON.stringify(file)}: () => import('./${file}'),`)
  return `const tests = {${rows.join('\n')}}\nfor (const file of files) await tests[file]()`
}

/**
 * In one line, so that all lines but the first are where the source map says. Tests wait, so it is asynchronous. In ASCII, which is
 * read without being decoded: the bundler leaves regular expressions as they are.
 */
function wrap(text) {
  const ascii = text.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `(async (files, requireApart, ownUrl, ownFolder) => {${ascii}\n})`
}

function requireApart({ onResolve, onLoad }) {
  const namespace = 'apart'
  onResolve({ filter: /^[^./]/ }, ({ path }) =>
    isBuiltin(path) || apart.some((name) => path === name || path.startsWith(`${name}/`))
      ? { path, namespace }
      : undefined,
  )
  onLoad({ filter: /.*/, namespace }, ({ path }) => ({
    contents: `module.exports = requireApart(${JSON.stringify(path)})`,
  }))
}
