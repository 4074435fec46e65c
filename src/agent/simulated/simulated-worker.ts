/** A thread of `--simulate N`: simulated caches and their agents, which share texts, a token and a limit of handshakes. */
import { constants, getPriority, setPriority } from 'node:os'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { pino, type Logger } from 'pino'
import { loadLimits } from '../../vcl/compile-limits.js'
import { Semaphore } from '../../runtime/semaphore.js'
import { runAgent, type RunningAgent } from '../agent.js'
import type { AgentResources } from '../agent-resources.js'
import { certificateFilesInMemory } from '../certificates/certificate-files.js'
import { createReadCache } from '../../runtime/bounded-cache.js'
import { createCaPin, type CaPin } from '../link/ca-pin.js'
import { spreadAddress } from '../link/coordinator-address.js'
import type { CoordinatorAddress } from '../link/coordinator-http.js'
import { keyOf } from '../link/key.js'
import type { FromSimulation, SimulationOrder, ToSimulation } from './simulated-agents.js'
import { createSimulatedCache } from './simulated-cache.js'
import { createStateInMemory, type SharedSources } from '../apply/state-in-memory.js'

/**
 * Concurrent handshakes of this thread, so that its agents do not overload the coordinator. With fewer, hellos share fewer
 * transactions: with 32 a fleet of 4,000 took a third longer to return.
 */
const dialsLimit = 128
/** How long a pinned CA is not read again. */
const pinBelievedMs = 1_000
/** After this time a refused token is fetched again. */
const tokenLifeMs = 60_000

if (parentPort) await simulate(parentPort, workerData as SimulationOrder) // as startSimulatedAgents passes it

async function simulate(port: MessagePort, order: SimulationOrder): Promise<void> {
  // A real fleet has hosts of its own, so the coordinator comes first. On Linux this applies to the calling thread alone.
  const nice = constants.priority.PRIORITY_BELOW_NORMAL
  // Without privileges the value can only be raised.
  if (getPriority() < nice) setPriority(nice)
  const post = (message: FromSimulation) => {
    port.postMessage(message)
  }
  const log = pino(
    {
      level: order.logLevel,
      base: null,
      timestamp: false,
      formatters: { level: (level) => ({ level }) },
    },
    {
      write: (line: string) => {
        post({ kind: 'log', line })
      },
    },
  )
  const tokens = createTokens(post)
  const running: RunningAgent[] = []
  let isStopping = false
  port.on('message', (message: ToSimulation) => {
    if (message.kind === 'token') tokens.take(message.id, message.token)
    else {
      isStopping = true
      void Promise.all(running.map((agent) => agent.stop())).then(() => process.exit(0))
    }
  })
  const shared = createShared()
  const { caFile } = order
  const pin = caFile === null ? {} : { pin: sharePin({ file: caFile, joinToken: tokens.get }) }
  const coordinator = { ...order.coordinator, ...pin }
  const waiting = order.agents.toReversed()
  const startSome = async (): Promise<void> => {
    for (let next = waiting.pop(); next && !isStopping; next = waiting.pop()) {
      const first = noteFirst(shared.limitDials)
      const parts = { ...shared, limitDials: first.limitDials, joinToken: tokens.get }
      running.push(await startOne({ ...order, coordinator }, next, parts, log))
      await first.dialled
    }
  }
  await Promise.all(Array.from({ length: dialsLimit }, startSome))
}

type LimitDials = NonNullable<AgentResources['limitDials']>

interface Shared extends Required<Pick<AgentResources, 'fetchOnce'>> {
  readonly limitDials: LimitDials
  readonly sources: SharedSources
}

function startOne(
  order: SimulationOrder & { readonly coordinator: CoordinatorAddress },
  agent: SimulationOrder['agents'][number],
  shared: Shared & { readonly joinToken: () => Promise<string | undefined> },
  log: Logger,
): Promise<RunningAgent> {
  const http = { host: '127.0.0.1', port: 0 } // there is no listener
  const tlsFiles = order.hasTls ? new Map<string, string>() : null
  const { engine } = createSimulatedCache({ http, compileMs: order.compileMs, tlsFiles })
  return runAgent(
    {
      agentVersion: order.agentVersion,
      name: agent.name,
      tags: order.tags,
      readOnly: false,
      coordinator: spreadAddress(order.coordinator, agent.name),
      joinToken: shared.joinToken,
      engine,
      http,
      takeover: 'registration',
      warmupMs: 0,
      furtherCounters: [],
      metricsListen: null,
      checks: { program: null, budgetLimits: loadLimits },
    },
    {
      state: createStateInMemory(shared.sources),
      key: { ...keyOf(agent.key), isNew: agent.isKeyNew },
      limitDials: shared.limitDials,
      fetchOnce: shared.fetchOnce,
      ...(tlsFiles && { certificateFiles: certificateFilesInMemory(tlsFiles) }),
    },
    log.child({ agent: agent.name }),
  )
}

/** All dial the same coordinators: concurrent dials read the file once. */
function sharePin(options: Parameters<typeof createCaPin>[0]): CaPin {
  const pin = createCaPin(options)
  const found = createReadCache<{ readonly ca: string | null }>({
    most: 100,
    now: Date.now,
    believedMs: pinBelievedMs,
  })
  return {
    ...pin,
    find: async (url) => {
      const { ca } = await found.read(url.href, async () => ({ ca: await pin.find(url) }))
      return ca
    },
  }
}

function createShared(): Shared {
  const fetching = new Map<string, Promise<string>>()
  const semaphore = new Semaphore({ permits: dialsLimit })
  return {
    sources: new Map(),
    fetchOnce: (sha, fetch) => {
      const earlier = fetching.get(sha)
      if (earlier) return earlier
      const mine = fetch().finally(() => fetching.delete(sha))
      fetching.set(sha, mine)
      return mine
    },
    limitDials: (dial) => semaphore.run(dial),
  }
}

/** `dialled` resolves when the first dial has ended in any way: otherwise thousands of agents would check their caches in vain. */
function noteFirst(limitDials: LimitDials): {
  readonly limitDials: LimitDials
  readonly dialled: Promise<void>
} {
  let note: () => void = () => undefined
  const dialled = new Promise<void>((resolve) => (note = resolve))
  return { dialled, limitDials: (dial) => limitDials(dial).finally(note) }
}

interface Tokens {
  /** The token of the process, requested at most once a minute. */
  readonly get: () => Promise<string | undefined>
  readonly take: (id: number, token: string | undefined) => void
}

function createTokens(post: (message: FromSimulation) => void): Tokens {
  const wanted = new Map<number, (token: string | undefined) => void>()
  let latest: Promise<string | undefined> | null = null
  let askedAtMs = 0
  let count = 0
  return {
    get: () => {
      if (latest && performance.now() - askedAtMs < tokenLifeMs) return latest
      askedAtMs = performance.now()
      const id = ++count
      latest = new Promise((resolve) => wanted.set(id, resolve))
      post({ kind: 'tokenWanted', id })
      return latest
    },
    take: (id, token) => {
      wanted.get(id)?.(token)
      wanted.delete(id)
    },
  }
}
