/**
 * Runs the test files that the variable CACHEFLEET_TEST_FILES lists, as JSON, one after the other in one process: from the bundle of all
 * (`build-tests.mjs`), or, with `apart`, from what the compiler made of each. What V8 compiled of the bundle for the first tests of a
 * folder is kept beside it for the next ones.
 */
import './without-async-hooks.mjs'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Script } from 'node:vm'

// Who is told to end leaves no server behind (test/support/at-exit.ts).
process.once('SIGTERM', () => process.exit(143))

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const files = JSON.parse(process.env.CACHEFLEET_TEST_FILES)
const compiled = files.map((file) => join(root, 'dist', file.replace(/\.ts$/, '.js')))
// By which tap names what it runs.
process.argv[1] = compiled[0]
if (process.argv.includes('apart')) for (const file of compiled) await import(file)
else await runBundled()

async function runBundled() {
  const bundle = join(root, 'dist', 'tests', 'tests.js')
  const kept = join(dirname(bundle), `${files[0].split('/').slice(0, 2).join('-')}.cache`)
  const cachedData = existsSync(kept) ? readFileSync(kept) : undefined
  const script = new Script(readFileSync(bundle, 'latin1'), { filename: bundle, cachedData })
  if (cachedData === undefined) process.once('exit', () => keep(script, kept))
  const run = script.runInThisContext()
  await run(files, createRequire(bundle), pathToFileURL(bundle).href, dirname(bundle))
}

/** Others may read it, or keep theirs. */
function keep(script, file) {
  if (existsSync(file)) return
  const whole = `${file}.${process.pid}`
  writeFileSync(whole, script.createCachedData())
  renameSync(whole, file)
}
