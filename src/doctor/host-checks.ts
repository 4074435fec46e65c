/** Checks shared by agent and coordinator: the unit, the state directory, files with keys. */
import { open, stat, statfs } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import type { HostUser } from '../enroll/host-user.js'
import type { ServiceUnit } from '../systemd-unit.js'
import { ok, problem, type Finding } from './finding.js'
import { codeOf, textOf } from '../enroll/enroll-error.js'

/** Settings of our units that a drop-in may have removed. */
const hardening = {
  NoNewPrivileges: 'yes',
  ProtectSystem: 'strict',
  ProtectHome: 'yes',
  PrivateTmp: 'yes',
  CapabilityBoundingSet: '',
  RestrictNamespaces: 'yes',
} as const
const roomLeastBytes = 10_000_000
const roomWantedBytes = 500_000_000

/** `user` null: the calling user. */
export interface Service {
  readonly unit: ServiceUnit | null
  readonly user: HostUser | null
}

export function checkUnit({ unit }: Service): readonly Finding[] {
  if (!unit) return [problem('unit', 'none')]
  const missing = Object.entries(hardening)
    .filter(([name, value]) => (unit.settings[name] ?? null) !== value)
    .map(([name, value]) => `${name}=${value}`)
  const findings = [
    ...(unit.user === null || unit.user === 'root'
      ? [problem('unit', 'root', { unit: unit.name })]
      : []),
    ...(missing.length > 0
      ? [problem('unit', 'loose', { unit: unit.name, settings: missing.join(', ') })]
      : []),
  ]
  return findings.length > 0
    ? findings
    : [ok('unit', `${unit.name} runs as ${unit.user ?? 'root'}, protected as packaged`)]
}

/** `file`: a file there that the service writes. */
export async function checkState(
  path: string,
  file: string,
  { user }: Service,
): Promise<readonly Finding[]> {
  const found = await stat(path).catch(() => null)
  if (!found?.isDirectory()) return [problem('state', 'missing', { path })]
  const mode = found.mode & 0o777
  const { bavail, bsize } = await statfs(path)
  const freeBytes = bavail * bsize
  const free = Math.floor(freeBytes / 1e6)
  const findings = [
    ...(user && found.uid !== user.uid
      ? [problem('state', 'foreign', { path, user: user.name })]
      : []),
    ...(mode & 0o077 ? [problem('state', 'open', { path, mode: mode.toString(8) })] : []),
    ...(await checkWritable(path, file)),
    ...(freeBytes < roomLeastBytes
      ? [problem('state', 'full', { path, free })]
      : freeBytes < roomWantedBytes
        ? [problem('state', 'tight', { path, free })]
        : []),
  ]
  return findings.length > 0 ? findings : [ok('state', `${path}, ${free} MB free`)]
}

/** Opens the file for writing without writing to it. */
async function checkWritable(path: string, file: string): Promise<readonly Finding[]> {
  if (!existsSync(file)) return []
  try {
    await (await open(file, 'r+')).close()
    return []
  } catch (error) {
    return [problem('state', 'locked', { path, reason: textOf(error) })]
  }
}

/** Checks the files that exist. */
export async function checkKeys(files: readonly string[]): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  let count = 0
  for (const file of files) {
    try {
      const opened = await open(file, 'r')
      const mode = (await opened.stat()).mode & 0o777
      await opened.close()
      count += 1
      if (mode & 0o007) findings.push(problem('keys', 'open', { file, mode: mode.toString(8) }))
    } catch (error) {
      if (codeOf(error) !== 'ENOENT')
        findings.push(problem('keys', 'unreadable', { file, reason: textOf(error) }))
    }
  }
  return findings.length > 0 || count === 0
    ? findings
    : [ok('keys', `${count} files with keys are closed to others`)]
}
