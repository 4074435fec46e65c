/**
 * The packages on a Debian 12 that is booted for it, without Node, compiler or network of its own: `npm run test:packages`, as root. What is tried
 * is in test/booted; `npm test` only unpacks packages. Debian is made once by debootstrap and kept (CACHEFLEET_DEBIAN, else
 * below /var/cache); tests run on copies of it.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPackages, onPath } from './debian-packages.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const debian = process.env.CACHEFLEET_DEBIAN || '/var/cache/cachefleet-packages/debian-12'
const mirror = 'http://deb.debian.org/debian'
const tools = [
  { package: 'systemd-container', present: () => onPath('systemd-nspawn') },
  { package: 'debootstrap', present: () => onPath('debootstrap') },
]
/** What an upgrade starts from. */
const lowerVersion = '0.0.1'

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
const folder = mkdtempSync(join(tmpdir(), 'cachefleet-packages-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
try {
  if (process.getuid() !== 0)
    throw new Error('npm run test:packages boots a machine with systemd-nspawn: it has to be root')
  installPackages(tools, say)
  prepareDebian()
  const [lower, current] = [join(folder, 'lower'), join(folder, 'current')]
  say('building the packages')
  build('--into', current)
  build('--into', lower, '--as', lowerVersion)
  process.exitCode = await runTests({
    CACHEFLEET_DEBIAN: debian,
    CACHEFLEET_PACKAGES: current,
    CACHEFLEET_LOWER_PACKAGES: lower,
  })
} catch (error) {
  say(error.message)
  process.exitCode = 1
}

function prepareDebian() {
  if (!existsSync(debian)) {
    say(`making a Debian 12 in ${debian}: some minutes`)
    const work = `${debian}.${process.pid}`
    mkdirSync(dirname(debian), { recursive: true })
    try {
      const parts = '--include=ca-certificates,curl,dbus,systemd-sysv'
      run('debootstrap', ['--variant=minbase', parts, 'bookworm', work, mirror])
      renameSync(work, debian)
    } finally {
      rmSync(work, { recursive: true, force: true })
    }
  }
  if (existsSync(join(debian, 'usr/sbin/varnishd'))) return
  say('installing varnish there')
  const inside = ['-q', '-D', debian, '--register=no', '--keep-unit', '--pipe']
  const install = 'apt-get update -qq; apt-get install -y -qq --no-install-recommends varnish'
  const front = 'export DEBIAN_FRONTEND=noninteractive'
  run('systemd-nspawn', [...inside, 'sh', '-c', `${front}; ${install}`])
}

function build(...words) {
  const program = join(root, 'scripts', 'package', 'build.mjs')
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64'
  run(process.execPath, [program, '--quick', arch, ...words])
}

function run(command, words) {
  const { status, error } = spawnSync(command, words, { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0)
    throw new Error(`${command} failed${error ? `: ${error.message}` : ', see above'}`)
}

function runTests(environment) {
  const words = [join(root, 'scripts', 'run-tests.mjs'), 'test/booted/']
  const env = { ...process.env, ...environment }
  const child = spawn(process.execPath, words, { cwd: root, env, stdio: 'inherit' })
  process.once('exit', () => child.kill())
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)))
}

function say(text) {
  process.stderr.write(`test:packages: ${text}\n`)
}
