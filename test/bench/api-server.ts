/**
 * The process that `api.ts` measures: the controller API as the coordinator composes it, over SQLite in a file with a fleet
 * whose heartbeats are written; and the same calls with a constant payload, without the store.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Logger } from 'pino'
import { Type } from 'typebox'
import { createInProcessBus } from '../../src/coordinator/bus/in-process.js'
import { recordCalls } from '../../src/coordinator/recorded-call.js'
import { createControllerApi } from '../../src/coordinator/controller/controller-api.js'
import { describeError } from '../../src/coordinator/controller/error-body.js'
import { listQuerySchema } from '../../src/coordinator/api/references.js'
import { resourceRoutes } from '../../src/coordinator/controller/resources.js'
import { createMetrics } from '../../src/coordinator/http/metrics.js'
import { answerList, route, type Route } from '../../src/coordinator/http/route.js'
import { createHttpServer } from '../../src/coordinator/http/server.js'
import { createAgentCounter } from '../../src/coordinator/agents/agent-counts.js'
import { agentListFields } from '../../src/coordinator/agents/agents.js'
import { createApiLog } from '../../src/coordinator/api-log/api-log.js'
import { createAuthenticator } from '../../src/coordinator/identity/authenticate.js'
import { createBackgroundWork } from '../../src/coordinator/background.js'
import { ensureFirstAdministrator } from '../../src/coordinator/identity/first-administrator.js'
import { createLeases } from '../../src/coordinator/store/leases.js'
import { openIdentity } from '../../src/coordinator/identity/identity.js'
import { openSealing } from '../../src/coordinator/identity/sealing.js'
import { createHeartbeatRecorder } from '../../src/coordinator/reports/heartbeat.js'
import type { StateService } from '../../src/coordinator/service.js'
import { createLiveSamples } from '../../src/coordinator/statistics/live-samples.js'
import { createLog } from '../../src/log.js'
import type { EngineCondition } from '../../src/messages/agent-to-coordinator.js'
import { openStore } from '../../src/coordinator/store/open-store.js'
import { figureCounters } from '../../src/coordinator/overview/judge-figures.js'
import { LocalArchive, planArchive } from '../../src/coordinator/statistics/store/local-archive.js'
import { noArchive } from '../../src/coordinator/statistics/store/no-archive.js'
import { openRows } from '../../src/coordinator/statistics/store/open-rows.js'
import type { StatisticsArchive } from '../../src/coordinator/statistics/store/statistics-archive.js'
import type { Store } from '../../src/coordinator/store/store.js'
import { addAgent, addTag, bearTag } from '../coordinator/store/rows.js'
import { administrator } from '../support/daemon.js'
import { fillFleet } from '../support/fill-fleet.js'
import { fleetSize, rackSize, type ConstantPayloads, type ServerReady } from './api-fleet.js'

/** Interval between an agent's heartbeats (docs/behaviour.md, Heartbeats). */
const heartbeatMs = 5_000
/** Part of the fleet at a time, as heartbeats arrive. */
const beatEveryMs = 50
const read = { type: 'agent', access: 'read' } as const
/** The first argument. */
const agents = Number(process.argv[2] ?? fleetSize)
/** `serving`: a group is on all agents, and each has sent a sample; always 10,000. */
const isServing = process.argv[3] === 'serving'
let payloads: ConstantPayloads = { one: null, list: [] }

await serve()

async function serve(): Promise<void> {
  const stateDir = await mkdtemp(join(tmpdir(), 'cachefleet-bench-'))
  const log = createLog('info')
  const store = await openStore(`sqlite:${join(stateDir, 'coordinator.db')}`, log)
  await (isServing ? fillFleet(store.queries) : addFleet(store))
  const service = createService(store, isServing ? await openArchive() : noArchive)
  await ensureFirstAdministrator(service, { stateDir, ...administrator, stdoutIsTerminal: false })
  const identity = await openIdentity(
    service,
    await openSealing(service.store, join(stateDir, 'secret.key')),
  )
  const http = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    trustedProxies: [],
    connectionLimit: 1000,
    connectionsPerAddress: 1000,
    uncountedNetworks: [],
    log,
    metrics: createMetrics(createAgentCounter(service)),
    describeError,
  })
  beat(service, log)
  http.addApi(
    createControllerApi({
      identity,
      authenticator: createAuthenticator(identity),
      onAnswered: recordCalls(createApiLog(service, log)),
      readBaseUrl: () => 'http://127.0.0.1',
      resources: [...resourceRoutes(service), ...constantRoutes()],
    }),
  )
  const base = await http.listen()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const tell = (): void => {
    const ready: ServerReady = { base, heldMs: delay.max / 1e6 }
    delay.reset()
    process.send?.(ready)
  }
  process.on('message', (given: ConstantPayloads) => {
    payloads = given
    tell()
  })
  process.once('disconnect', () => {
    void rm(stateDir, { recursive: true, force: true }).then(() => process.exit())
  })
  tell()
}

/** Each agent has three tags, some a fourth. */
async function addFleet(store: Store): Promise<void> {
  await store.transaction(async (queries) => {
    const tags: number[] = []
    for (const name of ['production', 'eu-north', 'edge']) tags.push(await addTag(queries, name))
    const rack = await addTag(queries, 'rack')
    for (let number = 1; number <= agents; number++) {
      const id = await addAgent(queries, `cache-${String(number).padStart(5, '0')}`)
      for (const tag of tags) await bearTag(queries, id, tag)
      if (number % (agents / rackSize) === 0) await bearTag(queries, id, rack)
    }
  })
}

/** In this thread, unlike in a coordinator. */
async function openArchive(): Promise<StatisticsArchive> {
  const events = { wrote: () => undefined, warn: () => undefined }
  const archive = new LocalArchive(await openRows('sqlite::memory:'), planArchive(10_000), events)
  const newest = Math.floor(Date.now() / 10_000) * 10_000
  const values = figureCounters.map((_, at) => 100 / (at + 1))
  for (const at of [newest - 10_000, newest])
    for (let agentId = 1; agentId <= agents; agentId++)
      archive.record({ agentId, at, spanMs: 10_000, names: figureCounters, values })
  return archive
}

function createService(store: Store, statistics: StatisticsArchive): StateService {
  const bus = createInProcessBus()
  return {
    store,
    bus,
    statistics,
    liveSamples: createLiveSamples(bus),
    now: Date.now,
    coordinatorId: 'bench',
    background: createBackgroundWork(),
    leases: createLeases({ store, now: Date.now, isAlone: true }),
    observeDeploy: () => undefined,
    observeInvalidation: () => undefined,
    observeDelivery: () => undefined,
    settings: {
      heartbeatMs,
      statsIntervalMs: 10_000,
      accessTtlSeconds: 600,
      refreshTtlSeconds: 3600,
      apiLogDays: 7,
      allowedIncludes: new Set(),
      allowedModules: new Set(['directors', 'std']),
      webhookNetworks: [],
    },
  }
}

/** Heartbeats of the whole fleet, evenly spread, for ever. */
function beat(service: StateService, log: Logger): void {
  const recorder = createHeartbeatRecorder(service, log, {
    recorded: () => undefined,
    gone: () => undefined,
  })
  const condition: EngineCondition = {
    engineState: 'running',
    engineError: null,
    heldRevision: 1,
    effectiveRevision: 1,
    lockedBecause: null,
  }
  let next = 0
  setInterval(() => {
    for (let count = 0; count < (agents * beatEveryMs) / heartbeatMs; count++) {
      recorder.record({ agentId: (next % agents) + 1, readOnly: false }, condition)
      next += 1
    }
  }, beatEveryMs)
}

function constantRoutes(): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/constants/{id}',
      operationId: 'getConstant',
      summary: 'What getAgent answered once',
      errorKey: 'agent',
      permission: read,
      find: () => Promise.resolve(payloads.one),
      answers: { 200: Type.Object({}) },
      handle: ({ object }) => Promise.resolve({ status: 200, body: object }),
    }),
    route({
      method: 'GET',
      path: '/constants',
      operationId: 'listConstants',
      summary: 'What listAgents answered once',
      errorKey: 'agent',
      permission: read,
      query: listQuerySchema(agentListFields),
      answers: { 200: Type.Array(Type.Object({})) },
      handle: () => Promise.resolve(answerList(payloads.list, agents)),
    }),
    route({
      method: 'GET',
      path: '/open/{id}',
      operationId: 'getOpenConstant',
      summary: 'What getConstant answers, to everybody',
      errorKey: 'agent',
      permission: 'public',
      find: () => Promise.resolve(payloads.one),
      answers: { 200: Type.Object({}) },
      handle: ({ object }) => Promise.resolve({ status: 200, body: object }),
    }),
  ]
}
