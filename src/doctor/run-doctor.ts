/** `cachefleetd doctor`: checks that this host suits agent and coordinator. Changes nothing (docs/behaviour.md, Doctor). */
import { geteuid, stdout } from 'node:process'
import { ConfigError, loadConfig, type Environment, type Loaded } from '../../config/load.js'
import type { Settings } from '../../config/schema.js'
import { textOf } from '../enroll/enroll-error.js'
import { findHostUser, type HostUser } from '../enroll/host-user.js'
import { hideArguments } from '../hide-arguments.js'
import { loadDatabase } from '../coordinator/store/open-store.js'
import { defaultStoreUrl } from '../coordinator/places.js'
import { loadAsUnit, withRights } from '../service-settings.js'
import { readServiceUnit, type ServiceUnit } from '../systemd-unit.js'
import { version } from '../version.js'
import { checkAgent } from './agent-checks.js'
import { checkCoordinatorHost } from './coordinator-checks.js'
import { ok, problem, type Finding } from './finding.js'

const usage = `usage: cachefleetd doctor [--json] [--instance NAME] [settings of the daemon]
Looks whether this host is as its agent and its coordinator need it, and changes nothing: one line a check.
As root and without settings: the services of this host. --instance NAME: cachefleet-agent@NAME.`

type SideName = 'agent' | 'coordinator'

interface Side {
  readonly name: SideName
  readonly unit: ServiceUnit | null
  /** Loads the settings with which the service would start. Throws ConfigError. */
  readonly load: () => Loaded
}

/** Exits with 1 if a check failed. */
export async function runDoctor(
  arguments_: readonly string[],
  environment: Environment,
): Promise<void> {
  const { isJson, instance, words } = readWords(arguments_)
  const findings: (Finding & { readonly side: SideName })[] = []
  for (const side of findSides(words, instance, environment))
    for (const finding of await checkSide(side)) findings.push({ side: side.name, ...finding })
  const isOk = findings.every(({ result }) => result !== 'fail')
  stdout.write(
    isJson ? `${JSON.stringify({ ok: isOk, version, checks: findings })}\n` : describe(findings),
  )
  // Outgoing connections may still be open.
  process.exit(isOk ? 0 : 1)
}

interface Words {
  readonly isJson: boolean
  readonly instance: string | null
  readonly words: readonly string[]
}

function readWords(arguments_: readonly string[]): Words {
  const isJson = arguments_.includes('--json')
  const rest = arguments_.filter((word) => word !== '--json')
  const at = rest.indexOf('--instance')
  if (at < 0) return { isJson, instance: null, words: rest }
  const instance = rest[at + 1] ?? ''
  if (!/^[A-Za-z0-9-]+$/.test(instance)) throw new ConfigError(usage)
  return { isJson, instance, words: rest.toSpliced(at, 2) }
}

/** Returns at least one side. */
function findSides(
  words: readonly string[],
  instance: string | null,
  environment: Environment,
): readonly Side[] {
  const agentUnit = `cachefleet-agent${instance === null ? '' : `@${instance}`}.service`
  const names = { agent: agentUnit, coordinator: 'cachefleet-coordinator.service' } as const
  const isRoot = geteuid?.() === 0 && words.length === 0
  const services = Object.entries(names).flatMap(([name, unitName]): Side[] => {
    const unit = isRoot ? readServiceUnit(unitName) : undefined
    const isAsked = instance === null || name === 'agent'
    if (!unit || !isAsked) return []
    const load = () => loadAsUnit(unit, [], environment)
    return [{ name: name as SideName, unit, load }] // its keys are these
  })
  if (services.length > 0) return services
  if (instance !== null) throw new ConfigError(`there is no unit ${agentUnit}`)
  const load = () => loadConfig(words, environment)
  const loaded = load()
  if (loaded.kind !== 'run') throw new ConfigError(usage)
  const name = loaded.settings.coordinator ? 'coordinator' : 'agent'
  return [{ name, unit: null, load }]
}

async function checkSide({ name, unit, load }: Side): Promise<readonly Finding[]> {
  let settings: Settings
  let user: HostUser | null
  try {
    const loaded = load()
    if (loaded.kind !== 'run') throw new ConfigError(usage)
    hideArguments(loaded.secretFlags)
    settings = loaded.settings
    user = unit?.user == null ? null : findHostUser(unit.user, unit.groups)
  } catch (error) {
    return [problem('settings', 'bad', { reason: textOf(error) })]
  }
  // Its modules are loaded from disk at first use, when this process may run as a user who cannot read them.
  if (name === 'coordinator')
    await loadDatabase(settings.store ?? defaultStoreUrl(settings.stateDir))
  const service = { unit, user }
  const findings = await withRights(rightsOf(user), () =>
    name === 'agent' ? checkAgent(settings, service) : checkCoordinatorHost(settings, service),
  )
  const about = `cachefleetd ${version} with Node ${process.versions.node}`
  const hasVersions = findings.some(({ check }) => check === 'versions')
  return [
    ok('settings', unit ? `those of ${unit.name}` : 'as given'),
    ...findings,
    ...(hasVersions ? [] : [ok('versions', about)]),
  ]
}

function rightsOf(user: HostUser | null): {
  readonly uid: number
  readonly gid: number
  readonly groups: readonly number[]
} {
  return user ?? { uid: 0, gid: 0, groups: [] }
}

function describe(findings: readonly (Finding & { readonly side: SideName })[]): string {
  const sides = new Set(findings.map(({ side }) => side))
  return findings
    .map(({ side, check, result, message, remedy }) => {
      const where = sides.size > 1 ? `${side.padEnd(11)}  ` : ''
      const todo = remedy === null ? '' : ` -> ${remedy}`
      return `${result.padEnd(4)}  ${where}${check.padEnd(11)}  ${message}${todo}\n`
    })
    .join('')
}
