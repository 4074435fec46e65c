/**
 * `cachefleetd enroll`: sets up a running service from a running cache and a join token. It checks everything before it writes
 * anything, and undoes its changes if the agent is not Running in time.
 */
import { chown, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../config/load.js'
import type { Settings } from '../../config/schema.js'
import { listRunningCaches, type RunningCache } from '../agent/host/running-caches.js'
import { createCaPin } from '../agent/link/ca-pin.js'
import { spreadAddress } from '../agent/link/coordinator-address.js'
import type { CoordinatorAddress } from '../agent/link/coordinator-http.js'
import { parseJoinToken } from '../resources/join-token-text.js'
import { readIfThere, writeDurably } from '../runtime/durable-file.js'
import { requireWelcome } from './ask-coordinator.js'
import { chooseCache } from './choose-cache.js'
import { EnrollError, textOf } from './enroll-error.js'
import type { EnrollWords } from './enroll-words.js'
import {
  findUnit,
  nameUnit,
  startUnit,
  stopUnit,
  type HostUnit,
  type Systemctl,
} from './host-unit.js'
import { findHostUser, type HostUser } from './host-user.js'
import { inspectCache, requireRights, type InspectedCache } from './inspect-cache.js'
import { addSettings, takeOutSettings } from './settings-text.js'
import { untilRunning } from './until-running.js'

export interface EnrollOptions extends EnrollWords {
  readonly token: string
  /** Root folder of the host's files. */
  readonly root: string
  readonly systemctl: Systemctl
  readonly now: () => number
  /** How long the agent may take to become Running. */
  readonly waitMs: number
  /** Aborted with an EnrollError: all changes are undone. */
  readonly signal: AbortSignal
  readonly listCaches?: () => Promise<readonly RunningCache[]>
}

export interface Enrolled {
  readonly unit: string
  readonly name: string
  /** Such as `varnish 7.1.1`. */
  readonly release: string
  readonly address: string
  /** Null: it is Running, or ReadOnly as its settings require. */
  readonly lockedBecause: string | null
}

/** Must run as root. Throws EnrollError, and then leaves nothing behind. */
export async function enrollHost(options: EnrollOptions): Promise<Enrolled> {
  const { root, instance, token } = options
  if (!parseJoinToken(token) || /\s/.test(token))
    throw new EnrollError('the join token is not whole: right is all of what was shown once')
  const unit = findUnit(nameUnit(instance), root)
  const user = findHostUser(unit.user ?? 'root', unit.groups)
  const cache = await inspectCache(
    chooseCache(await (options.listCaches ?? listRunningCaches)(), instance),
  )
  requireRights(cache, user)
  const place: Place = { ...options, unit, user, cache, undo: [] }
  try {
    return await install(place)
  } catch (error) {
    const left = await takeAllBack(place.undo)
    throw new EnrollError(`${textOf(error)}${left}`, { cause: error })
  }
}

/** Undoes in reverse order. Returns the failures, for the message; empty: none. */
async function takeAllBack(undo: Place['undo']): Promise<string> {
  const failures: string[] = []
  for (const takeBack of undo.toReversed())
    await takeBack().catch((error: unknown) => failures.push(textOf(error)))
  return failures.length === 0 ? '' : `; not all could be taken back: ${failures.join(', ')}`
}

/** In the agent's state dir. */
const unmanagedFolder = 'foreign'

interface Place extends EnrollOptions {
  readonly unit: HostUnit
  readonly user: HostUser
  readonly cache: InspectedCache
  /** Functions that undo the changes, in the order of the changes. */
  readonly undo: (() => Promise<void>)[]
}

async function install(place: Place): Promise<Enrolled> {
  const { root, unit, token, signal, systemctl, undo } = place
  const configFile = join(root, unit.configFile)
  const tokenFile = configFile.replace(/(?:\.\w+)?$/, '.token')
  const before = await readIfThere(configFile)
  const text = addSettings(unit.configFile, before, describeSettings(place, tokenFile))
  const settings = await readSettings(place, configFile, text)
  await askBeforehand(place, settings)
  signal.throwIfAborted()

  undo.push(() => rm(tokenFile, { force: true }))
  await writeDurably(tokenFile, `${token}\n`, 0o640)
  await chown(tokenFile, 0, place.user.gid)
  // Renamed, so that an undo restores owner and mode.
  const kept = `${configFile}.before`
  if (before !== null) await rename(configFile, kept)
  undo.push(() => (before === null ? rm(configFile, { force: true }) : rename(kept, configFile)))
  await writeDurably(configFile, text, 0o644)
  const stateBefore = await readdir(settings.stateDir).catch(() => null)
  undo.push(() => clearState(settings.stateDir, stateBefore))
  undo.push(() => stopUnit(systemctl, unit.name))
  await startUnit(systemctl, unit.name)
  const state = await untilRunning(settings, { waitMs: place.waitMs, unit: unit.name, signal })

  // The agent now has its own key, and keeps the CA that it trusts.
  await writeDurably(configFile, takeOutSettings(unit.configFile, text, ['joinTokenFile']), 0o644)
  await Promise.all([tokenFile, kept].map((file) => rm(file, { force: true })))
  const { release, address } = place.cache
  const { name } = settings
  return { unit: unit.name, name, release, address, lockedBecause: state.lockedBecause }
}

function describeSettings({ coordinatorUrl, cache, instance }: Place, tokenFile: string) {
  return {
    values: {
      coordinatorUrl,
      joinTokenFile: tokenFile,
      engineAddress: cache.address,
      engineSecretFile: cache.secretFile,
      engineName: cache.workingDirectory,
      ...(cache.program !== null && { engineProgram: cache.program }),
    },
    defaults: {
      // Two agents on one host need different names.
      ...(instance !== null && { name: nameAgent(hostname(), instance) }),
      ...(cache.http !== null && { engineHttp: cache.http }),
    },
  }
}

/** Follows the rules for agent names: letters, digits and dashes, at most 52. */
export function nameAgent(hostName: string, instance: string): string {
  const host = hostName.replaceAll(/[^A-Za-z0-9-]/g, '-').slice(0, 51 - instance.length)
  return `${host}-${instance}`
}

/** Removes what the agent wrote; VCL that it removed from the cache is the only copy, and stays. */
export async function clearState(
  stateDir: string,
  before: readonly string[] | null,
): Promise<void> {
  const names = await readdir(stateDir).catch(() => [])
  const saved = await readdir(join(stateDir, unmanagedFolder)).catch(() => [])
  for (const name of names)
    if (!(before ?? []).includes(name) && !(name === unmanagedFolder && saved.length > 0))
      await rm(join(stateDir, name), { recursive: true, force: true })
  if (before === null && saved.length === 0) await rm(stateDir, { recursive: true, force: true })
}

/** Reads them as the service will, with its unit's variables. Throws EnrollError if those override ours. */
async function readSettings(
  { unit, coordinatorUrl }: Place,
  configFile: string,
  text: string,
): Promise<Settings> {
  const draft = `${configFile}.draft.yaml`
  try {
    await writeDurably(draft, text, 0o600)
    const words = unit.words.map((word) => (word === unit.configFile ? draft : word))
    const stateDir = unit.stateDir === null ? {} : { STATE_DIRECTORY: unit.stateDir }
    const loaded = loadConfig(words, { ...unit.environment, ...stateDir })
    if (loaded.kind !== 'run') throw new Error(`${unit.name} only prints its settings`)
    if (loaded.settings.coordinatorUrl !== coordinatorUrl)
      throw new Error(
        `${unit.name} sets another coordinator, ${loaded.settings.coordinatorUrl}, beside ${unit.configFile}: take CACHEFLEET_COORDINATOR_URL out of its environment file`,
      )
    if (loaded.settings.joinToken !== null)
      throw new Error(
        `${unit.name} has a join token in its environment, which would win over this one: take CACHEFLEET_JOIN_TOKEN out of it`,
      )
    return loaded.settings
  } catch (error) {
    throw new EnrollError(textOf(error).replaceAll(draft, unit.configFile), { cause: error })
  } finally {
    await rm(draft, { force: true })
  }
}

/** Uses a temporary folder: the agent itself keeps the coordinator's CA once it runs. */
async function askBeforehand(place: Place, settings: Settings): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-enroll-'))
  try {
    const { name, coordinatorCa, coordinatorUrl } = settings
    const { token, now } = place
    const pin = createCaPin({
      file: join(folder, 'coordinator-ca.pem'),
      joinToken: () => Promise.resolve(token),
    })
    const address = spreadAddress({ url: coordinatorUrl, caFile: coordinatorCa, pin }, name)
    await askOneOf(address, coordinatorUrl.split(',').length, (one) =>
      requireWelcome({ address: one, name, token, now }),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** One of several coordinators is enough; if all fail, the first error is reported. */
async function askOneOf(
  address: CoordinatorAddress,
  count: number,
  ask: (address: CoordinatorAddress) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  while (failures.length < count) {
    try {
      await ask(address)
      return
    } catch (error) {
      failures.push(error)
      address.moveOn?.()
    }
  }
  throw failures[0]
}
