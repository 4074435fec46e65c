/** Installs packages of Debian where that may be done, and says what to install where not; with Node's built-ins only. */
import { spawnSync } from 'node:child_process'
import { accessSync, chmodSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What else would have to go is the operator's to decide: a cache's package may replace that of another product. */
const install = ['install', '--no-remove', '--no-install-recommends']

/** Installs what is not there; throws with what to do where it cannot. */
export function installPackages(wanted, say) {
  const missing = wanted.filter((tool) => !tool.present()).map((tool) => tool.package)
  if (missing.length === 0) return
  const command = `apt-get ${install.join(' ')} ${missing.join(' ')}`
  if (!canInstall())
    throw new Error(`missing: ${missing.join(', ')}. Install with: sudo ${command}`)
  say(`installing Debian packages: ${missing.join(', ')}`)
  const release = holdServices()
  const words = [...install, '-y', '-qq', ...missing]
  const installed =
    runPrivileged('apt-get', words) ||
    (runPrivileged('apt-get', ['update', '-qq']) && runPrivileged('apt-get', words))
  release()
  if (!installed) throw new Error(`could not install ${missing.join(', ')}. Try: sudo ${command}`)
}

export function canInstall() {
  if (!onPath('apt-get')) return false
  return (
    process.getuid() === 0 || spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0
  )
}

export function onPath(program) {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin']
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** As a package that `dpkg` knows to be installed. */
export function debianPackage(name) {
  return { package: name, present: () => isInstalled(name) }
}

function isInstalled(name) {
  const words = ['-W', '-f', '${db:Status-Status}', name]
  return spawnSync('dpkg-query', words, { encoding: 'utf8' }).stdout === 'installed'
}

/** The packages' own services are not started: everything here runs private servers. */
function holdServices() {
  const policy = '/usr/sbin/policy-rc.d'
  if (process.getuid() !== 0 || existsSync(policy)) return () => {}
  writeFileSync(policy, '#!/bin/sh\nexit 101\n')
  chmodSync(policy, 0o755)
  return () => rmSync(policy, { force: true })
}

/** What it prints goes to standard error, so that standard output stays the program's own. */
function runPrivileged(command, words) {
  const options = { stdio: ['ignore', 2, 2] }
  const front = 'DEBIAN_FRONTEND=noninteractive'
  const { status } =
    process.getuid() === 0
      ? spawnSync('env', [front, command, ...words], options)
      : spawnSync('sudo', ['-n', 'env', front, command, ...words], options)
  return status === 0
}
