/** The controller API on a real listener over SQLite in memory, with a clock that tests can advance. */
import type { KeyObject } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Test } from 'tap'
import type { Bus } from '../../src/coordinator/bus/bus.js'
import { createInProcessBus } from '../../src/coordinator/bus/in-process.js'
import { openConsole } from '../../src/coordinator/console/console-api.js'
import { callbackOperation } from '../../src/coordinator/identity/oidc-routes.js'
import { createControllerApi } from '../../src/coordinator/controller/controller-api.js'
import { docsRoutes } from '../../src/coordinator/controller/docs.js'
import { describeError } from '../../src/coordinator/controller/error-body.js'
import { eventViews } from '../../src/coordinator/events/event-views.js'
import { eventRoutes } from '../../src/coordinator/events/event-routes.js'
import { healthRoutes } from '../../src/coordinator/controller/health.js'
import { recordCalls } from '../../src/coordinator/recorded-call.js'
import { createMetrics } from '../../src/coordinator/http/metrics.js'
import type { Route } from '../../src/coordinator/http/route.js'
import {
  createHttpServer,
  type HttpOptions,
  type HttpServer,
} from '../../src/coordinator/http/server.js'
import { createAgentCounter } from '../../src/coordinator/agents/agent-counts.js'
import { createApiLog, type ApiLog } from '../../src/coordinator/api-log/api-log.js'
import { createBackgroundWork } from '../../src/coordinator/background.js'
import { createLicensing } from '../../src/coordinator/console/license.js'
import { EventHub } from '../../src/coordinator/events/event-hub.js'
import { startEventRecorder } from '../../src/coordinator/events/event-recorder.js'
import {
  createAuthenticator,
  type Authenticator,
} from '../../src/coordinator/identity/authenticate.js'
import { ensureFirstAdministrator } from '../../src/coordinator/identity/first-administrator.js'
import { openIdentity, type Identity } from '../../src/coordinator/identity/identity.js'
import { openSealing } from '../../src/coordinator/identity/sealing.js'
import {
  createSessionWatch,
  type SessionWatch,
} from '../../src/coordinator/identity/session-watch.js'
import { createLeases } from '../../src/coordinator/store/leases.js'
import type { StateService } from '../../src/coordinator/service.js'
import { createLiveSamples } from '../../src/coordinator/statistics/live-samples.js'
import { openStore } from '../../src/coordinator/store/open-store.js'
import { LocalArchive, planArchive } from '../../src/coordinator/statistics/store/local-archive.js'
import { openRows } from '../../src/coordinator/statistics/store/open-rows.js'
import { basic, callHttp, type CallAnswer, type CallOptions } from './http-call.js'

export const administrator = { user: 'root', password: 'correct horse battery' }

export interface ControllerParts {
  readonly authenticator: Authenticator
  readonly sessions: SessionWatch
}

export interface ControllerOptions {
  readonly http?: Partial<HttpOptions>
  readonly resources?: (service: StateService, parts: ControllerParts) => readonly Route[]
  /** A store shared with others; by default its own, in memory. */
  readonly storeUrl?: string
  readonly stateDir?: string
  /** A bus shared with other coordinators, closed by its owner; by default its own. */
  readonly bus?: Bus
  /** Records its changes as events, and has the route to subscribe to them. */
  readonly withEvents?: boolean
  /** Verifies licenses of the console. */
  readonly licenseKey?: KeyObject
}

export interface Controller {
  readonly base: string
  /** All routes of the controller API. */
  readonly routes: readonly Route[]
  /** All routes of the console API. */
  readonly consoleRoutes: readonly Route[]
  readonly http: HttpServer
  readonly service: StateService
  readonly identity: Identity
  readonly apiLog: ApiLog
  readonly hub: EventHub
  readonly stateDir: string
  /** Lines of the log, parsed. */
  readonly lines: Record<string, unknown>[]
  phase: 'starting' | 'ready' | 'stopping'
  /** Advances the clock. */
  advance(ms: number): void
  call(method: string, path: string, options?: CallOptions): Promise<CallAnswer>
  login(): Promise<string>
}

/** Stops with the test. */
export async function startController(
  t: Test,
  options: ControllerOptions = {},
): Promise<Controller> {
  const stateDir = options.stateDir ?? (await mkdtemp(join(tmpdir(), 'cachefleet-')))
  let skippedMs = 0
  const lines: Record<string, unknown>[] = []
  const log = pino(
    { base: null, level: 'info' },
    { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) }, // pino writes objects
  )
  const store = await openStore(options.storeUrl ?? 'sqlite::memory:', log)
  const bus = options.bus ?? createInProcessBus()
  const rows = await openRows('sqlite::memory:')
  const statistics = new LocalArchive(rows, planArchive(10_000), {
    wrote: () => undefined,
    warn: () => undefined,
  })
  const service: StateService = {
    store,
    bus,
    statistics,
    liveSamples: createLiveSamples(bus),
    now: () => Date.now() + skippedMs,
    coordinatorId: 'test',
    background: createBackgroundWork(),
    leases: createLeases({ store, now: Date.now, isAlone: true }),
    observeDeploy: () => undefined,
    observeInvalidation: () => undefined,
    observeDelivery: () => undefined,
    settings: {
      heartbeatMs: 5000,
      statsIntervalMs: 10_000,
      accessTtlSeconds: 600,
      refreshTtlSeconds: 3600,
      apiLogDays: 7,
      allowedIncludes: new Set(),
      allowedModules: new Set(['directors', 'std']),
      webhookNetworks: ['127.0.0.0/8'],
    },
  }
  await ensureFirstAdministrator(service, { stateDir, ...administrator, stdoutIsTerminal: false })
  const identity = await openIdentity(
    service,
    await openSealing(service.store, join(stateDir, 'secret.key')),
  )
  const authenticator = createAuthenticator(identity)
  const apiLog = createApiLog(service, log)
  const metrics = createMetrics(createAgentCounter(service))
  const http = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    trustedProxies: [],
    connectionLimit: 1000,
    connectionsPerAddress: 1000,
    uncountedNetworks: [],
    log,
    metrics,
    describeError,
    ...options.http,
  })
  const sessions = createSessionWatch(service, log)
  const hub = new EventHub(service, sessions, log)
  const resources = options.resources?.(service, { authenticator, sessions }) ?? []
  const events = options.withEvents ? eventRoutes({ service, hub, authenticator }) : []
  const recorder = options.withEvents ? startEventRecorder(service, log, eventViews) : undefined
  const api = createControllerApi({
    identity,
    authenticator,
    onAnswered: recordCalls(apiLog, callbackOperation),
    readBaseUrl: () => base,
    resources: [...resources, ...events],
  })
  const console = openConsole({
    identity,
    licensing: createLicensing(service, options.licenseKey ?? null),
    onAnswered: recordCalls(apiLog),
    readBaseUrl: () => base,
  })
  http.addApi(api)
  http.addApi(console.api)
  const health = healthRoutes({ service, metrics, readPhase: () => controller.phase })
  http.addApi({
    name: 'base',
    prefix: '',
    routes: [...health, ...docsRoutes({ controller: api, console: console.api }, '0.0.0')],
    authenticate: null,
    describeError,
  })
  const base = await http.listen()
  const controller: Controller = {
    base,
    routes: api.routes,
    consoleRoutes: console.api.routes,
    http,
    service,
    identity,
    apiLog,
    hub,
    stateDir,
    lines,
    phase: 'ready',
    advance: (ms) => {
      skippedMs += ms
    },
    call: (method, path, given) => callHttp(method, base + path, given),
    login: async () => {
      const { body } = await callHttp('POST', `${base}/api/v1/auth/login`, {
        headers: { authorization: basic(administrator.user, administrator.password) },
      })
      return String(body['accessToken'])
    },
  }
  t.teardown(async () => {
    await hub.close()
    await sessions.close()
    await http.close()
    await apiLog.close()
    await recorder?.close()
    authenticator.close()
    console.close()
    if (options.bus === undefined) await service.bus.close()
    await statistics.close()
    await store.close()
    if (options.stateDir === undefined) await rm(stateDir, { recursive: true, force: true })
  })
  return controller
}
