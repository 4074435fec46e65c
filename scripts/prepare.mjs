/**
 * Makes a checkout ready, with Node's built-ins only, for `setup.mjs`: `node scripts/setup.mjs run` before the daemon is started, and builds it,
 * `node scripts/setup.mjs test` before the tests. Installs what is missing as root or through sudo; what cannot be
 * installed is named. Takes well under a second when there is nothing to do.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { canInstall, installPackages, onPath } from './debian-packages.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** The one package whose own script has to run: it is compiled for Node 20. Newer ones have another (store/sqlite-library.ts). */
const built = 'better-sqlite3'
const isCompiled = process.versions.node.startsWith('20.')
/** Behind its own -O3, which takes 58 s of CPU instead of 46 and makes neither writing nor reading rows quicker. */
const quickCompile = { CFLAGS: '-O2', CXXFLAGS: '-O2' }
const mode = process.argv[2]
if (mode !== 'run' && mode !== 'test') stop('say `run` or `test`: node scripts/setup.mjs run|test')

/** What each mode needs of Debian: a package, and how to see that it is there. */
const compiler = [
  { package: 'python3', present: () => onPath('python3') },
  { package: 'make', present: () => onPath('make') },
  { package: 'g++', present: () => onPath('g++') },
]
/** Either product will do: where one is, nothing is installed in its place (protocol/product.ts has their names). */
const cache = { package: 'varnish', present: () => onPath('varnishd') || onPath('vinyld') }
const testServers = [
  cache,
  // What private caches compile VCL with, many times as quick as gcc.
  { package: 'tcc', present: () => onPath('tcc') },
  { package: 'nats-server', present: () => onPath('nats-server') },
  { package: 'postgresql', present: () => existsSync('/usr/lib/postgresql') },
  // What the archive of statistics is measured beside.
  { package: 'rrdtool', present: () => onPath('rrdtool') },
  // Its promtool checks the alert rules and the queries of the dashboard.
  { package: 'prometheus', present: () => onPath('promtool') },
]
/** What the page is tried in: Chromium without windows of its own, which takes two thirds of what the whole one takes for a page. */
const browser = {
  package: 'chromium-headless-shell',
  present: () => onPath('chromium-headless-shell'),
}

if (mode === 'test') {
  install(testServers)
  // The whole one will do.
  if (onPath('chromium')) installIfPossible(browser)
  else install([browser])
}
// Without one the daemon simulates: what cannot be installed beside what is there is no reason not to start.
else if (!cache.present() && canInstall()) installIfPossible(cache)
installModules()
// The tests are compiled with what they try.
if (mode === 'run') build()

function installModules() {
  const marker = join(root, 'node_modules', '.cachefleet-setup')
  const wanted = digest('package.json', 'package-lock.json') + process.versions.modules
  const there = existsSync(marker) ? readFileSync(marker, 'utf8') : ''
  // What tests need is more than what is needed to build and run.
  if (there === `${wanted} test` || there === `${wanted} ${mode}`) return
  say('installing the modules (npm ci)')
  const how = ['--no-audit', '--no-fund', '--loglevel=error']
  if (mode === 'run') how.push('--omit=dev')
  // What a package brings runs when it is called, never because it was installed.
  if (!run('npm', ['ci', '--ignore-scripts', ...how])) stop('npm ci failed, see above')
  if (isCompiled && !builtModules()) {
    // No prebuilt binary of better-sqlite3 fits: it is compiled, and needs a compiler.
    const missing = compiler.filter((tool) => !tool.present())
    if (missing.length === 0) stop(`npm rebuild ${built} failed, see above`)
    install(missing)
    if (!builtModules()) stop(`npm rebuild ${built} failed, see above`)
  }
  writeFileSync(marker, `${wanted} ${mode}`)
}

function builtModules() {
  // node-gyp would download Node's headers; where they lie beside this Node they are taken from there.
  const prefix = dirname(dirname(process.execPath))
  const headers = existsSync(join(prefix, 'include', 'node', 'node_api.h'))
  const env = { ...process.env, ...quickCompile, ...(headers && { npm_config_nodedir: prefix }) }
  return run('npm', ['rebuild', built, '--ignore-scripts=false', '--loglevel=error'], { env })
}

function build() {
  const built = join(root, 'dist', '.built')
  const builtAt = existsSync(built) ? statSync(built).mtimeMs : 0
  const sources = ['src', 'protocol', 'config'].map((folder) => join(root, folder))
  const settings = ['tsconfig.json', 'scripts/build-page.mjs', 'scripts/build-programs.mjs'].map(
    (file) => join(root, file),
  )
  const newest = Math.max(...[...sources, ...settings].map(newestChange))
  if (newest < builtAt) return
  say('building')
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  if (!run('npm', ['run', '--silent', 'build'])) stop('the build failed, see above')
  writeFileSync(built, '')
}

function newestChange(path) {
  const { mtimeMs } = statSync(path)
  if (!statSync(path).isDirectory()) return mtimeMs
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => newestChange(join(path, name))))
}

function installIfPossible(wanted) {
  try {
    installPackages([wanted], say)
  } catch (error) {
    say(error.message)
  }
}

function install(wanted) {
  try {
    installPackages(wanted, say)
  } catch (error) {
    stop(error.message)
  }
}

function run(command, arguments_, options = {}) {
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  // What it prints goes to standard error, so that standard output stays the program's own.
  const { status } = spawnSync(command, arguments_, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    ...options,
  })
  return status === 0
}

function digest(...files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

function say(text) {
  process.stderr.write(`cachefleet setup: ${text}\n`)
}

function stop(text) {
  say(text)
  process.exit(1)
}
