/**
 * Builds the programs: `src` with its libraries into `dist/bin`, a file for each program and thread and what they share in chunks. To find
 * and open a thousand files was half of the start of each process. Libraries with native code, and the one whose files are served, stay apart.
 */
import { chmodSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const target = join(root, 'dist', 'bin')
const programs = { cachefleetd: 'src/start.ts', cachefleet: 'src/cli/start.ts' }
/** Beside the programs, where `new URL('./NAME.js', import.meta.url)` looks for them. */
const threads = {
  'archive-thread': 'src/coordinator/statistics/store/archive-thread.ts',
  'compare-thread': 'src/coordinator/files/compare-thread.ts',
  'simulated-worker': 'src/agent/simulated/simulated-worker.ts',
}

rmSync(target, { recursive: true, force: true })
await build({
  absWorkingDir: root,
  entryPoints: { ...programs, ...threads },
  outdir: target,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // `pg-native` is asked for and not needed.
  external: ['better-sqlite3', '@node-rs/argon2', 'swagger-ui-dist', 'pg-native'],
  // For libraries that call `require`. Without `node:`, which Nodes that are too old to be told so do not know.
  banner: {
    js: "import { createRequire as requireFrom } from 'module'; const require = requireFrom(import.meta.url);",
  },
  legalComments: 'none',
  logLevel: 'warning',
})
for (const name of Object.keys(programs)) {
  chmodSync(join(target, `${name}.js`), 0o755)
  symlinkSync(`${name}.js`, join(target, name))
}
