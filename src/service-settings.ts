/**
 * The settings of the service for what users do on its host beside it (`rollback`, `admin`, `secret`): as root those of its
 * systemd unit, and its user, so that what is written can be read by the service.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { geteuid, getgroups, setegid, seteuid, setgid, setgroups, setuid } from 'node:process'
import { ConfigError, loadConfig, type Environment, type Loaded } from '../config/load.js'
import { readServiceUnit, type ServiceUnit } from './systemd-unit.js'

type RunSettings = Extract<Loaded, { kind: 'run' }>

/** Whose things are asked for: an agent may run in a coordinator's service, too. */
type ServiceKind = 'agent' | 'coordinator'

const unitsOf: Readonly<Record<ServiceKind, readonly string[]>> = {
  agent: ['cachefleet-agent.service', 'cachefleet-coordinator.service'],
  coordinator: ['cachefleet-coordinator.service'],
}
/** What tells the state of one from an empty folder. */
const markOf: Readonly<Record<ServiceKind, string>> = { agent: 'history', coordinator: '' }

/**
 * Throws ConfigError, also when the settings are only to be printed, and `usage` says what is right then. `words`: the
 * settings on the command line.
 */
export function loadServiceSettings(
  kind: ServiceKind,
  words: readonly string[],
  { environment, usage, root, isNew = false }: LoadOptions,
): RunSettings {
  const given = requireRun(loadConfig(words, environment), usage)
  if (!given.isOwnStateDir) return given
  const units = geteuid?.() === 0 ? unitsOf[kind].map((name) => readServiceUnit(name, root)) : []
  const found = units
    .filter((unit) => unit !== undefined)
    .map((unit) => requireRun(loadAsUnit(unit, words, environment), usage))
    .filter(({ settings }) => isNew || isFolder(settings.stateDir))
  const marked = found.find(({ settings }) => isFolder(join(settings.stateDir, markOf[kind])))
  return marked ?? found[0] ?? given
}

interface LoadOptions {
  readonly environment: Environment
  readonly usage: string
  /** Of the host's files. */
  readonly root?: string
  /** The state dir is to be made: that of a unit counts where there is no folder, too. */
  readonly isNew?: boolean
}

/** As systemd would start it. Throws ConfigError. */
export function loadAsUnit(
  unit: ServiceUnit,
  words: readonly string[],
  environment: Environment,
): Loaded {
  const stateDir = unit.stateDir === null ? {} : { STATE_DIRECTORY: unit.stateDir }
  return loadConfig([...unit.words, ...words], { ...unit.environment, ...stateDir, ...environment })
}

function requireRun(loaded: Loaded, usage: string): RunSettings {
  if (loaded.kind !== 'run') throw new ConfigError(usage)
  return loaded
}

/** Throws ConfigError where nobody has kept anything. */
export function requireStateDir(
  kind: ServiceKind,
  { settings, isOwnStateDir }: Pick<RunSettings, 'settings' | 'isOwnStateDir'>,
): void {
  const { stateDir } = settings
  if (isFolder(stateDir)) return
  if (!isOwnStateDir)
    throw new ConfigError(`stateDir: there is no folder ${stateDir} (--state-dir)`)
  const what = kind === 'agent' ? 'an agent' : 'a coordinator'
  const units = unitsOf[kind].join(' and ')
  throw new ConfigError(
    geteuid?.() === 0
      ? `no state of ${what} was found: looked for the state directory of ${units}, and for ${stateDir}; --state-dir names another folder`
      : `no state of ${what} was found: there is no folder ${stateDir}; --state-dir names another, and root finds that of ${units}`,
  )
}

/**
 * Root becomes the user who owns the folder, for good: the service could not read files of root, and in a folder of somebody
 * else root must not follow links. Modules that are loaded later must be readable for that user.
 */
export function becomeOwner(stateDir: string): void {
  if (geteuid?.() !== 0) return
  const { uid, gid } = statSync(stateDir, { throwIfNoEntry: false }) ?? { uid: 0, gid: 0 }
  if (uid === 0) return
  try {
    setgroups?.([gid])
    setgid?.(gid)
    setuid?.(uid)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      `cannot become user ${uid}, whose folder ${stateDir} is: ${why}; run this as that user`,
      { cause: error },
    )
  }
}

/** Root has the rights of the user who owns the folder meanwhile, and of nobody else. */
export async function actAsOwner<T>(stateDir: string, work: () => Promise<T>): Promise<T> {
  const { uid, gid } = statSync(stateDir)
  return withRights({ uid, gid, groups: [gid] }, work)
}

/** Of root; others have what they have. Nothing else may run: the rights are those of the whole process. */
export async function withRights<T>(rights: Rights, work: () => Promise<T>): Promise<T> {
  if (geteuid?.() !== 0 || rights.uid === 0) return work()
  const groups = getgroups?.() ?? []
  takeRights(rights)
  try {
    return await work()
  } finally {
    seteuid?.(0)
    takeRights({ uid: 0, gid: 0, groups })
  }
}

interface Rights {
  readonly uid: number
  readonly gid: number
  readonly groups: readonly number[]
}

/** The user last: after that nothing else may be changed. */
function takeRights({ uid, gid, groups }: Rights): void {
  setgroups?.([...groups])
  setegid?.(gid)
  seteuid?.(uid)
}

/** Who runs the service of this host by its unit; null: it has no unit, or root does. */
export function findUnitUser(kind: ServiceKind): string | null {
  return unitsOf[kind].map((name) => readServiceUnit(name)).find((unit) => unit)?.user ?? null
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
