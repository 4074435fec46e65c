/** The service of an agent on this host, started and stopped by systemctl, without a shell. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { readServiceUnit, type ServiceUnit } from '../systemd-unit.js'
import { codeOf, EnrollError, textOf } from './enroll-error.js'

export interface HostUnit extends ServiceUnit {
  /** The value of `--config` on its command line. */
  readonly configFile: string
}

/** The program, and words that precede ours. */
export type Systemctl = readonly [program: string, ...words: string[]]

/** Longer than a start may take by systemd's default (90 s). */
const timeoutMs = 100_000

export function nameUnit(instance: string | null): string {
  return instance === null ? 'cachefleet-agent.service' : `cachefleet-agent@${instance}.service`
}

/** Throws EnrollError if it is not installed as in our packages. */
export function findUnit(name: string, root: string): HostUnit {
  const unit = readServiceUnit(name, root)
  if (!unit) throw new EnrollError(`there is no unit ${name}: install the package cachefleet-agent`)
  const configFile = unit.words[unit.words.indexOf('--config') + 1]
  if (!unit.words.includes('--config') || configFile === undefined)
    throw new EnrollError(
      `${name} reads no settings file: its ExecStart must have --config, as that of the package cachefleet-agent does`,
    )
  return { ...unit, configFile }
}

export async function startUnit(systemctl: Systemctl, name: string): Promise<void> {
  try {
    await run(systemctl, ['enable', name])
    await run(systemctl, ['restart', name])
  } catch (error) {
    const why =
      codeOf(error) === 'ENOENT' ? 'this host has no systemctl' : textOf(error).slice(0, 500)
    throw new EnrollError(`${name} cannot be started: ${why}; journalctl -u ${name} says more`, {
      cause: error,
    })
  }
}

/** Also works for a unit that did not start or does not exist. */
export async function stopUnit(systemctl: Systemctl, name: string): Promise<void> {
  await run(systemctl, ['disable', '--now', name]).catch(() => undefined)
  await run(systemctl, ['reset-failed', name]).catch(() => undefined)
}

async function run([program, ...first]: Systemctl, words: readonly string[]): Promise<void> {
  await promisify(execFile)(program, [...first, ...words], { timeout: timeoutMs })
}
