/**
 * `--simulate N`: N simulated caches with an agent each, in a worker thread a core, over real agent links. Their keys are kept in
 * `<state dir>/simulated/keys.json`; all their other state ends with the process (docs/behaviour.md, Engine modes).
 */
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { Type } from 'typebox'
import { parseFitting, prepareGuard } from '../../mismatch.js'
import { matching } from '../../resources/json-fields.js'
import type { CoordinatorAddress } from '../link/coordinator-http.js'
import { makePrivateFolder, writeDurably } from '../../runtime/durable-file.js'
import { createKey } from '../link/key.js'

const isKeyFile = prepareGuard(Type.Record(Type.String(), Type.Unknown()))
const isKey = prepareGuard(matching(/^[0-9a-f]{64}$/, '64 hexadecimal digits'))

/** Large enough that what all agents allocate for one message is freed before it would be copied. */
function chooseYoungMegabytes(agents: number): number {
  return Math.min(384, Math.max(96, Math.ceil(agents / 25)))
}

interface SimulationOptions {
  readonly agentVersion: string
  readonly count: number
  /** Name of the process; the agents are named `<name>-sim-00001` and so on. */
  readonly name: string
  readonly tags: readonly string[]
  readonly compileMs: number
  /** Their caches have a TLS listener. */
  readonly hasTls: boolean
  readonly stateDir: string
  /** Its `url` may contain several URLs, separated by commas. */
  readonly coordinator: CoordinatorAddress
  /** A token with enough uses for all; requested when an agent needs one, at most once a minute. */
  readonly joinToken: () => Promise<string | undefined>
  /** The program of the thread, if it is not the built one beside this file. */
  readonly thread?: URL
}

/** Start parameters of the thread. */
export interface SimulationOrder extends Omit<
  SimulationOptions,
  'joinToken' | 'stateDir' | 'name' | 'thread' | 'coordinator'
> {
  readonly coordinator: Omit<CoordinatorAddress, 'pin'>
  /** File with the pinned CA from their token, shared by all (`CaPin`); null: no CA is pinned. */
  readonly caFile: string | null
  readonly agents: readonly SimulatedAgent[]
  readonly logLevel: string
}

interface SimulatedAgent {
  readonly name: string
  readonly key: string
  readonly isKeyNew: boolean
}

/** Messages from the thread. `log`: one line of JSON for the log of the process. */
export type FromSimulation =
  | { readonly kind: 'log'; readonly line: string }
  | { readonly kind: 'tokenWanted'; readonly id: number }

/** Messages to the thread. */
export type ToSimulation =
  | { readonly kind: 'token'; readonly id: number; readonly token: string | undefined }
  | { readonly kind: 'stop' }

interface RunningSimulation {
  stop(): Promise<void>
}

/** Resolves when the threads are running; the agents of each connect one after the other. */
export async function startSimulatedAgents(
  options: SimulationOptions,
  log: Logger,
): Promise<RunningSimulation> {
  const { agentVersion, count, tags, compileMs, hasTls } = options
  const { pin, ...coordinator } = options.coordinator
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const fewFiles = describeFewFiles(limits, { count, isOwn: coordinator.isOwn === true })
  if (fewFiles !== null) log.warn(fewFiles)
  const names = Array.from({ length: count }, (_, index) => nameSimulated(options.name, index + 1))
  const order: SimulationOrder = {
    agentVersion,
    count,
    tags,
    compileMs,
    hasTls,
    coordinator,
    caFile: pin?.file ?? null,
    agents: await readKeys(join(options.stateDir, 'simulated'), names),
    logLevel: chooseLevel(log),
  }
  const threads = divideAgents(order.agents, availableParallelism()).map((agents) =>
    startThread(options, { ...order, agents }, log),
  )
  return {
    stop: async () => {
      await Promise.all(threads.map((thread) => thread.stop()))
    },
  }
}

/** Of fewer agents, one thread is as fast. */
const agentsForThread = 50

/** Returns a share for each thread, of every second agent if there are two. */
export function divideAgents<Agent>(agents: readonly Agent[], cores: number): Agent[][] {
  const count = Math.max(1, Math.min(cores, Math.floor(agents.length / agentsForThread)))
  return Array.from({ length: count }, (_, at) => agents.filter((_, index) => index % count === at))
}

function startThread(
  options: SimulationOptions,
  order: SimulationOrder,
  log: Logger,
): RunningSimulation {
  const worker = new Worker(options.thread ?? new URL('./simulated-worker.js', import.meta.url), {
    workerData: order,
    resourceLimits: { maxYoungGenerationSizeMb: chooseYoungMegabytes(order.agents.length) },
  })
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      resolve()
    })
  })
  worker.on('error', (error) => {
    log.error({ err: error }, 'the simulated agents ended')
  })
  worker.on('message', (message: FromSimulation) => {
    if (message.kind === 'log') passOn(log, message.line)
    else void answerToken(worker, options, message.id, log)
  })
  return {
    stop: async () => {
      post(worker, { kind: 'stop' })
      await ended
    },
  }
}

/** In addition to the links: the store, the log, the listener, API clients. */
const otherFiles = 200

/**
 * Returns null if this process may open enough files. `limits`: the text of /proc/self/limits; Node has raised its soft limit to the
 * hard limit. `isOwn`: both ends of each link are in this process.
 */
export function describeFewFiles(
  limits: string,
  { count, isOwn }: { readonly count: number; readonly isOwn: boolean },
): string | null {
  const [, most] = /^Max open files +(\d+)/m.exec(limits) ?? []
  const needed = count * (isOwn ? 2 : 1) + otherFiles
  if (most === undefined || Number(most) >= needed) return null
  return `${count} simulated agents need ${needed} open files and this process may have ${most}, so not all will be linked: ulimit -n ${needed}, or LimitNOFILE=${needed} in a service, would be right`
}

function nameSimulated(name: string, number: number): string {
  return `${name}-sim-${String(number).padStart(5, '0')}`
}

/** A log line for every command of a thousand caches would hide all others, so they require `debug`. */
function chooseLevel(log: Logger): string {
  return log.isLevelEnabled('debug') ? log.level : 'warn'
}

async function readKeys(
  folder: string,
  names: readonly string[],
): Promise<SimulationOrder['agents']> {
  await makePrivateFolder(folder)
  const path = join(folder, 'keys.json')
  const text = await readFile(path, 'utf8').catch(() => '{}')
  // An invalid key is dropped: that agent enrols again.
  const entries = Object.entries(parseFitting(text, isKeyFile) ?? {})
  const kept = new Map(entries.flatMap(([name, key]) => (isKey(key) ? [[name, key]] : [])))
  const agents = names.map((name) => {
    const key = kept.get(name)
    return { name, key: key ?? createKey().secret, isKeyNew: key === undefined }
  })
  const all = new Map([...kept, ...agents.map(({ name, key }) => [name, key] as const)])
  if (all.size > kept.size) await writeDurably(path, `${JSON.stringify(Object.fromEntries(all))}\n`)
  return agents
}

function passOn(log: Logger, line: string): void {
  const { level, msg, ...fields } = JSON.parse(line) as Record<string, unknown> // pino's own line
  const write = level === 'error' || level === 'warn' || level === 'info' ? level : 'debug'
  log[write](fields, typeof msg === 'string' ? msg : '')
}

async function answerToken(
  worker: Worker,
  options: SimulationOptions,
  id: number,
  log: Logger,
): Promise<void> {
  const token = await options.joinToken().catch((error: unknown) => {
    log.warn({ err: error }, 'there is no join token for the simulated agents')
    return undefined
  })
  post(worker, { kind: 'token', id, token })
}

function post(worker: Worker, message: ToSimulation): void {
  worker.postMessage(message)
}
