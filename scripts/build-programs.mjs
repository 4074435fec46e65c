/**
 * Builds the programs into `dist/bin`: each with its libraries, beside its parts what V8 made of them (`src/load-program.ts`), and the
 * threads. Libraries with native code, and the one whose files are served, stay apart; so does what Fastify has for others.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transform } from 'esbuild'
import { buildClock } from './build-clock.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const target = join(root, 'dist', 'bin')
const stateDir = mkdtempSync(join(tmpdir(), 'cachefleet-build-'))
/**
 * By what they are called: what starts them, what they are, and a call that uses what each start uses. The daemon's text is split where it
 * imports when something is needed, so that an agent holds nothing of a coordinator for as long as it runs.
 */
const programs = {
  cachefleetd: {
    start: 'src/start.ts',
    main: 'src/main.ts',
    splitting: true,
    call: [
      ...['--coordinator', '--engine', 'simulate', '--listen', '127.0.0.1:0'],
      ...['--state-dir', stateDir, '--log-level', 'error'],
    ],
  },
  cachefleet: {
    start: 'src/cli/start.ts',
    main: 'src/cli/main.ts',
    splitting: false,
    call: ['--help'],
  },
}
/** Beside the programs, where `new URL('./NAME.js', import.meta.url)` looks for them. */
const threads = {
  'archive-thread': 'src/coordinator/statistics/store/archive-thread.ts',
  'compare-thread': 'src/coordinator/files/compare-thread.ts',
  'simulated-worker': 'src/agent/simulated/simulated-worker.ts',
  'test-file-thread': 'src/coordinator/files/test-file-thread.ts',
  // A process of its own.
  'test-runner': 'src/vcl-tests/test-runner.ts',
}
const starts = Object.fromEntries(
  Object.entries(programs).map(([name, { start }]) => [name, start]),
)
const shared = {
  absWorkingDir: root,
  outdir: target,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minifySyntax: true,
  external: [
    ...['@node-rs/argon2', 'swagger-ui-dist'],
    // Asked for by others, and not needed.
    ...['pg-native', '@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'],
    'light-my-request',
  ],
  legalComments: 'none',
  logLevel: 'warning',
}

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
await Promise.all([
  build({
    ...shared,
    entryPoints: { ...threads, ...starts, 'load-program': 'src/load-program.ts' },
    splitting: true,
    format: 'esm',
    // For libraries that call `require`. Without `node:`, which Nodes that are too old to be told so do not know.
    banner: {
      js: "import { createRequire as requireFrom } from 'module'; const require = requireFrom(import.meta.url);",
    },
  }),
  ...Object.entries(programs).map(([name, program]) => buildParts(name, program)),
])
buildClock(root, target)
for (const [name, { call }] of Object.entries(programs)) {
  chmodSync(join(target, `${name}.js`), 0o755)
  symlinkSync(`${name}.js`, join(target, name))
  keepCompiled(name, call)
}
rmSync(stateDir, { recursive: true, force: true })

/** What V8 kept of a text does not know how to import, and esbuild splits only what imports: so it is split first, and then converted. */
async function buildParts(name, { main, splitting }) {
  const { outputFiles } = await build({
    ...shared,
    entryPoints: { [name]: main },
    outExtension: { '.js': '.cjs' },
    format: 'esm',
    splitting,
    write: false,
  })
  for (const { path, text } of outputFiles) {
    const { code } = await transform(text, {
      format: 'cjs',
      platform: 'node',
      target: shared.target,
      supported: { 'dynamic-import': false },
      define: { 'import.meta.url': 'ownUrl' },
      // The text stays in memory as long as the program runs, and is read at each start. Names stay; lines, for who reads a stack.
      minifyWhitespace: true,
      lineLimit: 120,
      banner:
        "(function (exports, require, module, __filename, __dirname) { const ownUrl = require('url').pathToFileURL(__filename).href;",
      footer: '})',
    })
    writeFileSync(path, code)
  }
}

/** Without it the program starts all the same, only later. */
function keepCompiled(name, call) {
  const { HOME, PATH } = process.env
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'scripts', 'keep-compiled.mjs'), join(target, `${name}.cjs`), ...call],
    { env: { HOME, PATH }, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  if (status !== 0) process.stderr.write(`${name} did not run: it will be compiled at each start\n`)
}
