/**
 * The service's settings for commands run on its host (`rollback`, `admin`, `secret`). Root uses the settings and the user of
 * the systemd unit, so that the service can read the files that the command writes.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { geteuid, getgroups, setegid, seteuid, setgid, setgroups, setuid } from 'node:process'
import { ConfigError, loadConfig, type Environment, type Loaded } from '../config/load.js'
import { readServiceUnit, type ServiceUnit } from './systemd-unit.js'

type RunSettings = Extract<Loaded, { kind: 'run' }>

/** Whose state the command needs: an agent may also run in a coordinator's service. */
type ServiceKind = 'agent' | 'coordinator'

const unitsOf: Readonly<Record<ServiceKind, readonly string[]>> = {
  agent: ['cachefleet-agent.service', 'cachefleet-coordinator.service'],
  coordinator: ['cachefleet-coordinator.service'],
}
/** The folder that distinguishes a state directory of this kind from an empty folder. */
const markOf: Readonly<Record<ServiceKind, string>> = { agent: 'history', coordinator: '' }

/**
 * Throws ConfigError; also, with `usage`, for flags such as --print-config that do not run anything. `words`: the settings on
 * the command line.
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
  /** The root of the host's files. */
  readonly root?: string
  /** The state directory will be created: a unit's state directory is used even if the folder does not exist. */
  readonly isNew?: boolean
}

/** Loads the settings as if systemd started the unit. Throws ConfigError. */
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

/** Throws ConfigError when the state directory does not exist. */
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
 * Root permanently becomes the user who owns the folder: the service could not read files of root, and root must not follow
 * links in a folder of another user. Modules that are loaded later must be readable for that user.
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

/** Root runs `work` with only the rights of the user who owns the folder. */
export async function actAsOwner<T>(stateDir: string, work: () => Promise<T>): Promise<T> {
  const { uid, gid } = statSync(stateDir)
  return withRights({ uid, gid, groups: [gid] }, work)
}

/** Only root changes its rights. Nothing else may run meanwhile: the rights apply to the whole process. */
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

/** Sets the user last: after that the process may change nothing else. */
function takeRights({ uid, gid, groups }: Rights): void {
  setgroups?.([...groups])
  setegid?.(gid)
  seteuid?.(uid)
}

/** The user in the unit of this host's service; null: there is no unit, or it runs as root. */
export function findUnitUser(kind: ServiceKind): string | null {
  return unitsOf[kind].map((name) => readServiceUnit(name)).find((unit) => unit)?.user ?? null
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
