/**
 * The upstream archive of a source package of any of Debian's suites, by apt with lists of its own: those of the machine stay as
 * they are. The archive is checked by apt against Debian's key.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
const usualArchive = 'http://deb.debian.org/debian'

/** Its path, in `work`. Throws with the output of apt. */
export function fetchDebianSource({ package: name, version, suite }, work) {
  const options = prepareApt(work, suite)
  apt(work, 'apt-get', ...options, '-qq', 'update')
  const listed = apt(work, 'apt-cache', ...options, 'showsrc', '--only-source', name)
  // Debian's own changes are not used: of each version any revision will do.
  const revision = [...listed.matchAll(/^Version: (.+)$/gm)]
    .map(([, one]) => one)
    .find((one) => one.startsWith(`${version}-`))
  if (revision === undefined)
    throw new Error(`${suite} has no ${name} ${version} any more: see CACHEFLEET_CACHE_SOURCES`)
  const fetching = [...options, '-qq', 'source', '--download-only', `${name}=${revision}`]
  const why = tryTo(() => apt(work, 'apt-get', ...fetching))
  // Debian's part of a package that was replaced meanwhile may be gone; what is there was checked.
  const archive = readdirSync(work).find((file) => file.includes(`_${version}.orig.tar.`))
  if (archive === undefined) throw why ?? new Error(`the source package of ${name} has no archive`)
  return join(work, archive)
}

/** Answers the error, if there was one. */
function tryTo(act) {
  try {
    act()
    return null
  } catch (error) {
    return error
  }
}

function prepareApt(work, suite) {
  const folder = join(work, 'apt')
  for (const part of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(join(folder, part), { recursive: true })
  const list = join(folder, 'list')
  writeFileSync(list, `deb-src [signed-by=${keyring}] ${findArchive()} ${suite} main\n`)
  const settings = {
    'Dir::Etc::SourceList': list,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State::Lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    'APT::Sandbox::User': 'root',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
}

/** The one that this machine uses. */
function findArchive() {
  const folder = '/etc/apt/sources.list.d'
  const files = readdirSync(folder).map((name) => join(folder, name))
  const text = ['/etc/apt/sources.list', ...files].map(readIfThere).join('\n')
  const found = /^(?:URIs: {0,9}|deb (?:\[[^\]\n]{0,300}\] )?)(\S{1,300}\/debian)\/?(?: |$)/m.exec(
    text,
  )
  return found?.[1] ?? usualArchive
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function apt(folder, command, ...words) {
  const options = { cwd: folder, encoding: 'utf8', maxBuffer: 64 << 20 }
  const { status, stdout, stderr } = spawnSync(command, words, options)
  if (status === 0) return stdout
  throw new Error(`${command} ${words.at(-1)}: ${stderr || stdout || 'it cannot be run'}`)
}
