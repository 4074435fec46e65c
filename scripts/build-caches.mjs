/**
 * Builds releases of the cache from their sources, each once, unless they are installed: `node scripts/build-caches.mjs [NAME…]`, all of them unless named.
 * `npm run test:releases` calls it. With Node's built-ins only.
 *
 * It needs what `tools` lists (installed as root or through sudo), and the network: Debian's source packages, and the public
 * repository of Varnish for the others. Without the network: the source archive `<name>.tar.gz` in the folder that
 * CACHEFLEET_CACHE_SOURCES names, or for tags a git directory or address in CACHEFLEET_VARNISH_GIT. Where they are built:
 * CACHEFLEET_CACHES, else `/var/cache/cachefleet-caches` as root (the cache drops to users who cannot enter /root), else
 * `~/.cache/cachefleet-caches`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { debianPackage, installPackages } from './debian-packages.mjs'
import { fetchDebianSource } from './debian-source.mjs'

/** Where the sources of each are: a package of one of Debian's suites, or a tag of the repository. */
export const releases = {
  'varnish-6.0.17': { tag: 'varnish-6.0.17' },
  'varnish-6.5.1': { package: 'varnish', version: '6.5.1', suite: 'bullseye' },
  'varnish-7.1.1': { package: 'varnish', version: '7.1.1', suite: 'bookworm' },
  'varnish-7.7.0': { package: 'varnish', version: '7.7.0', suite: 'trixie' },
  'varnish-8.0.1': { tag: 'varnish-8.0.1' },
  'varnish-9.0.2': { tag: 'varnish-9.0.2' },
  'vinyl-9.0.1': { package: 'vinyl-cache', version: '9.0.1', suite: 'forky' },
}

const repository = process.env.CACHEFLEET_VARNISH_GIT || 'https://github.com/varnish/varnish'
const tools = [
  ...['autoconf', 'automake', 'build-essential', 'git', 'libedit-dev', 'libncurses-dev'],
  ...['libpcre2-dev', 'libpcre3-dev', 'libssl-dev', 'libtool', 'pkg-config', 'python3-docutils'],
  ...['python3-sphinx', 'xz-utils', 'zlib1g-dev'],
]

/** Where its programs are, for PATH: the build's, or where the release is installed. */
export function foldersOf(name) {
  const installed = findInstalled(name)
  if (installed !== undefined) return [installed]
  return ['sbin', 'bin'].map((part) => join(cacheFolder(name), part))
}

/** The folder of a program of this release. */
function findInstalled(name) {
  const words = `${name.replace('vinyl-', 'vinyl-cache-')} revision`
  return ['/usr/sbin', '/usr/local/sbin'].find((folder) =>
    ['varnishd', 'vinyld'].some((program) => {
      const { stderr } = spawnSync(join(folder, program), ['-V'], { encoding: 'utf8' })
      return stderr?.includes(words)
    }),
  )
}

function cacheFolder(name) {
  const own = process.env.CACHEFLEET_CACHES
  if (own) return join(own, name)
  const caches = process.getuid() === 0 ? '/var/cache' : join(homedir(), '.cache')
  return join(caches, 'cachefleet-caches', name)
}

const isThere = (name) =>
  existsSync(join(cacheFolder(name), 'built')) || findInstalled(name) !== undefined

/** Throws with what the failing step printed last. */
export function buildCache(name) {
  if (isThere(name)) return
  installPackages(tools.map(debianPackage), say)
  const work = mkdtempSync(join(tmpdir(), 'cachefleet-build-'))
  try {
    say(`building ${name} into ${cacheFolder(name)}: some minutes`)
    const source = join(work, 'source')
    mkdirSync(source)
    fetchSource(name, work, source)
    leaveOut(source)
    make(source, cacheFolder(name))
    writeFileSync(join(cacheFolder(name), 'built'), '')
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function fetchSource(name, work, source) {
  const { tag, ...debian } = releases[name]
  const archive = join(process.env.CACHEFLEET_CACHE_SOURCES || work, `${name}.tar.gz`)
  if (existsSync(archive)) unpack(archive, source)
  else if (tag === undefined) unpack(fetchDebianSource(debian, work), source)
  else if (existsSync(repository)) {
    run(work, 'git', `--git-dir=${repository}`, 'archive', '-o', archive, tag)
    unpack(archive, source, 0)
  } else run(work, 'git', 'clone', '-q', '--depth=1', `--branch=${tag}`, repository, source)
}

/** `strip`: folders at the start of each path in it. */
function unpack(archive, source, strip = 1) {
  run(source, 'tar', 'xf', archive, `--strip-components=${strip}`)
}

/** The test tool, of which archives lack a part, and the manuals. */
function leaveOut(source) {
  edit(join(source, 'configure.ac'), (text) =>
    text
      .replace(/^if ! test -f .*vtest2[^]{1,300}?^fi$/m, '')
      .replace(/^ *bin\/(?:varnishtest|vinyltest)\/Makefile$/m, '')
      .replace(/^VTC_TESTS=.*$/m, 'VTC_TESTS=""')
      // 6.5.1 has these unquoted, which autoconf since 2.70 does not take.
      .replace(/^( +)(AC_CHECK_PROGS\((?:RST2MAN|SPHINX|RST2HTML),[^)]{0,300}\))\)$/gm, '$1[$2])'),
  )
  edit(join(source, 'bin', 'Makefile.am'), (text) =>
    text.replace(/ \\\n\t(?:varnishtest|vinyltest)$/m, ''),
  )
  edit(join(source, 'Makefile.am'), (text) =>
    text.replace(/^SUBDIRS = .*$/m, (line) => line.replace(/ (?:doc|man)\b/g, '')),
  )
}

function edit(path, change) {
  writeFileSync(path, change(readFileSync(path, 'utf8')))
}

function make(source, prefix) {
  const options = ['--with-jemalloc=no', '--disable-dependency-tracking', 'CFLAGS=-O1']
  run(source, 'sh', './autogen.sh')
  run(source, './configure', `--prefix=${prefix}`, ...options)
  // Others work on this machine too.
  run(source, 'nice', '-n', '19', 'make', `-j${availableParallelism()}`)
  rmSync(prefix, { recursive: true, force: true })
  run(source, 'make', 'install')
}

const keptCharacters = 4_000

function run(folder, command, ...words) {
  const options = { cwd: folder, encoding: 'utf8', maxBuffer: 256 << 20 }
  const { status, stdout, stderr, error } = spawnSync(command, words, options)
  if (status === 0) return
  const output = `${stdout ?? ''}${stderr ?? ''}`.slice(-keptCharacters)
  throw new Error(`${command} ${words.join(' ')}: ${error?.message ?? `${status}\n${output}`}`)
}

export function checkNames(names) {
  const unknown = names.filter((name) => !Object.hasOwn(releases, name))
  if (unknown.length === 0) return
  const known = Object.keys(releases).join(', ')
  throw new Error(`no release ${unknown.join(', ')}: there are ${known}`)
}

function say(text) {
  process.stderr.write(`${text}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  try {
    const names = process.argv.slice(2)
    checkNames(names)
    for (const name of names.length > 0 ? names : Object.keys(releases)) buildCache(name)
  } catch (error) {
    say(error.message)
    process.exitCode = 1
  }
