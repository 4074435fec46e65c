/** Wires the coordinator: store, bus, use cases, agent gateway and APIs on one listener; starts and stops them. */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Bus } from './bus/bus.js'
import { openBus } from './bus/open-bus.js'
import { createContext } from '../context.js'
import { agentLinkPath } from '../messages/envelope.js'
import { openStore } from './store/open-store.js'
import { ensureSetting } from './store/settings.js'
import { planArchive } from './statistics/store/local-archive.js'
import { startArchive } from './statistics/store/start-archive.js'
import type { StatisticsArchive } from './statistics/store/statistics-archive.js'
import type { Store } from './store/store.js'
import { version } from '../version.js'
import { AgentGateway } from './gateway/agent-gateway.js'
import { openConsole } from './console/console-api.js'
import { callbackOperation } from './identity/oidc-routes.js'
import { createControllerApi } from './controller/controller-api.js'
import { docsRoutes } from './controller/docs.js'
import { describeError } from './controller/error-body.js'
import { eventViews } from './events/event-views.js'
import { eventRoutes } from './events/event-routes.js'
import { healthRoutes } from './controller/health.js'
import { pageFolder, readPage, servePage } from './http/page.js'
import { resourceRoutes } from './controller/resources.js'
import type { Api } from './http/api.js'
import { createMetrics, type Metrics } from './http/metrics.js'
import type { Route } from './http/route.js'
import { createHttpServer, type HttpServer, type TlsFiles } from './http/server.js'
import { createFleetCounter } from './metrics/fleet-counts.js'
import { createAgentCounter } from './agents/agent-counts.js'
import { createApiLog } from './api-log/api-log.js'
import { createLicensing, readLicenseKey } from './console/license.js'
import { EventHub } from './events/event-hub.js'
import { startEventRecorder } from './events/event-recorder.js'
import { createAuthenticator, type Authenticator } from './identity/authenticate.js'
import { createBackgroundWork } from './background.js'
import { discardUnfinishedDeploys } from './deploying/recover.js'
import {
  ensureFirstAdministrator,
  type FirstAdministrator,
} from './identity/first-administrator.js'
import { openIdentity } from './identity/identity.js'
import { createOwnTokens } from './registration/own-tokens.js'
import { openCertificateFor } from './certificates/certificate-texts.js'
import { createLeases, type Leases } from './store/leases.js'
import { defaultArchiveUrl, toReachable } from './places.js'
import { openTraffic } from './traffic/traffic.js'
import { openListenerTls, type ListenerTls } from './tls/listener-tls.js'
import { createSessionWatch } from './identity/session-watch.js'
import { openSealing, type Sealing } from './identity/sealing.js'
import { startPeriodicTasks } from './periodic-tasks.js'
import { recordCalls } from './recorded-call.js'
import type { ServiceSettings, StateService } from './service.js'
import { createLiveSamples } from './statistics/live-samples.js'

interface CoordinatorConfig {
  readonly stateDir: string
  readonly listen: { readonly host: string; readonly port: number }
  /** `own`: the coordinator creates its certificate. */
  readonly tls: TlsFiles | 'own' | null
  readonly tlsNames: readonly string[]
  /** `sqlite:<path>` or `postgres://…`. */
  readonly storeUrl: string
  /** `in-process` or `nats://…`. */
  readonly busUrl: string
  readonly apis: ReadonlySet<string>
  /** PEM file; null: licenses are not checked. */
  readonly licenseKeyFile: string | null
  /** The URL for browsers and identity providers; null: the listener's address. */
  readonly publicUrl: string | null
  readonly trustedProxies: readonly string[]
  readonly connectionsPerAddress: number
  readonly secretKeyFile: string
  readonly settings: ServiceSettings
  /** The number of statistics archives kept. */
  readonly statsArchives: number
  /** The first administrator of an empty store; null: not given. */
  readonly adminUser: string | null
  readonly adminPassword: string | null
  readonly stdoutIsTerminal: boolean
}

export interface RunningCoordinator {
  /** `http://127.0.0.1:8002`. */
  readonly address: string
  /** Null: the store had accounts already. */
  readonly firstAdministrator: FirstAdministrator | null
  /** For agents in this process. */
  createJoinToken(label: string, maxUses: number): Promise<string>
  /** Reloads the certificates, and the secret key if the store is sealed with another one. */
  reload(): Promise<void>
  /** Shuts down gracefully, within 10 s. */
  close(): Promise<void>
}

/** Each agent and each caller needs one connection. */
const connectionLimit = 40_000
/** Connections from this host may carry many callers, like those of a proxy. */
const loopbackNetworks = ['127.0.0.0/8', '::1']

/** Rejects with FleetError: 'invalid' for an invalid setting, 'unavailable' if the store or bus cannot be opened. */
export async function startCoordinator(
  config: CoordinatorConfig,
  log: Logger,
): Promise<RunningCoordinator> {
  const store = await openStore(config.storeUrl, log)
  const metrics = createMetrics(createAgentCounter({ store, now: Date.now }))
  let bus: Bus | undefined
  let statistics: StatisticsArchive | undefined
  try {
    const coordinatorId = await ensureSetting(store.queries, 'coordinatorId', randomUUID())
    bus = await openBus(config.busUrl, coordinatorId, log)
    statistics = await openStatistics(config, metrics, log)
    return await startOn({ store, bus, coordinatorId, statistics, metrics }, config, log)
  } catch (error) {
    await statistics?.close()
    await bus?.close()
    await store.close()
    throw error
  }
}

interface Infrastructure {
  readonly store: Store
  readonly bus: Bus
  readonly coordinatorId: string
  readonly statistics: StatisticsArchive
  readonly metrics: Metrics
}

/** Coordinators on PostgreSQL share the store and the archive in it; with SQLite the archive is a separate file. */
function openStatistics(
  { storeUrl, stateDir, settings, statsArchives }: CoordinatorConfig,
  metrics: Metrics,
  log: Logger,
): Promise<StatisticsArchive> {
  return startArchive({
    url: storeUrl.startsWith('sqlite:') ? defaultArchiveUrl(stateDir) : storeUrl,
    options: planArchive(settings.statsIntervalMs, statsArchives),
    events: {
      wrote: (seconds) => {
        metrics.observeStatsWrite(seconds)
      },
      warn: (fields, message) => {
        log.warn(fields, message)
      },
    },
  })
}

async function startOn(
  infrastructure: Infrastructure,
  config: CoordinatorConfig,
  log: Logger,
): Promise<RunningCoordinator> {
  const { store, bus, statistics, metrics } = infrastructure
  const sealing = await openSealing(store, config.secretKeyFile)
  const leases = createLeases({ store, now: Date.now, isAlone: !bus.isShared })
  const tls = await openListenerTls(config, { store, sealing }, log)
  const service = createService(infrastructure, leases, config.settings, tls)
  metrics.setFleetCounter(createFleetCounter(service))
  const identity = await openIdentity(service, sealing)
  const { licenseKeyFile, adminUser: user, adminPassword: password } = config
  const licenseKey = licenseKeyFile === null ? null : await readLicenseKey(licenseKeyFile)
  const firstAdministrator = await ensureFirstAdministrator(service, { ...config, user, password })
  // With several coordinators the leases decide, because another one may be running these deploys.
  if (!bus.isShared) await discardUnfinishedDeploys(service, createContext(log))

  let phase: 'starting' | 'ready' | 'stopping' = 'starting'
  const gateway = new AgentGateway(service, log, {
    openCertificate: (agentId, sha) => openCertificateFor({ service, sealing }, agentId, sha),
  })
  const authenticator = createAuthenticator(identity)
  const apiLog = createApiLog(service, log)
  const streams = openStreams(service, authenticator, log)
  const http = await openListener({ ...config, tls: tls.files }, metrics, log)
  const readBaseUrl = (): string => config.publicUrl ?? toReachable(address)
  const console = openConsole({
    identity,
    licensing: createLicensing(service, licenseKey),
    onAnswered: recordCalls(apiLog),
    readBaseUrl,
  })
  const controller = createControllerApi({
    identity,
    authenticator,
    onAnswered: recordCalls(apiLog, callbackOperation),
    readBaseUrl,
    resources: [...resourceRoutes(service), ...streams.routes],
  })
  const apis = [controller, console.api].filter(({ name }) => config.apis.has(name))
  for (const api of apis) http.addApi(api)
  const health = healthRoutes({ service, metrics, readPhase: () => phase })
  const docs = docsRoutes({ controller, console: console.api }, version)
  http.addApi(await createServiceApi([...health, ...docs]))
  mountGateway(http, gateway)
  const address = await http.listen()
  const events = startEventRecorder(service, log, eventViews)
  const periodicTasks = startPeriodicTasks(service, identity, log)
  const renewal = tls.own?.follow(() => http.reloadCertificates())
  phase = 'ready'
  log.info({ address, version }, 'coordinator is ready')
  return {
    address,
    firstAdministrator,
    createJoinToken: createOwnTokens(service),
    reload: () => reloadAll(http, sealing),
    close: async () => {
      phase = 'stopping'
      await streams.close()
      await Promise.all([periodicTasks.close(), renewal?.close()])
      const background = service.background.stop()
      await service.liveSamples.close()
      await gateway.close()
      await http.close()
      await background
      await apiLog.close()
      await events.close()
      authenticator.close()
      console.close()
      await leases.release().catch(() => undefined) // they expire by themselves
      await statistics.close()
      await bus.close()
      await store.close()
    },
  }
}

/** Opens the streaming calls: event listeners and log readers. */
function openStreams(service: StateService, authenticator: Authenticator, log: Logger) {
  const sessions = createSessionWatch(service, log)
  const hub = new EventHub(service, sessions, log)
  const traffic = openTraffic({ service, authenticator, sessions }, log)
  return {
    routes: [...eventRoutes({ service, hub, authenticator }), ...traffic.routes],
    close: async (): Promise<void> => {
      await hub.close()
      await traffic.close()
      await sessions.close()
    },
  }
}

async function reloadAll(http: HttpServer, sealing: Sealing): Promise<void> {
  await Promise.all([http.reloadCertificates(), sealing.reload()])
}

function createService(
  infrastructure: Infrastructure,
  leases: Leases,
  settings: ServiceSettings,
  { own }: ListenerTls,
): StateService {
  const { bus, metrics } = infrastructure
  return {
    ...infrastructure,
    ...(own && { caFingerprint: own.caFingerprint }),
    liveSamples: createLiveSamples(bus),
    now: Date.now,
    leases,
    settings,
    background: createBackgroundWork(),
    observeDeploy: (result, seconds) => {
      metrics.observeDeploy(result, seconds)
    },
    observeInvalidation: (seconds) => {
      metrics.observeInvalidation(seconds)
    },
    observeDelivery: (type, isDelivered) => {
      metrics.observeDelivery(type, isDelivered)
    },
  }
}

function openListener(
  config: Omit<CoordinatorConfig, 'tls'> & { readonly tls: TlsFiles | null },
  metrics: Metrics,
  log: Logger,
): Promise<HttpServer> {
  return createHttpServer({
    ...config,
    ...config.listen,
    connectionLimit,
    uncountedNetworks: [...loopbackNetworks, ...config.trustedProxies],
    log,
    metrics,
    describeError,
  })
}

/** The web page, and the routes outside the two APIs. */
async function createServiceApi(routes: readonly Route[]): Promise<Api> {
  const page = servePage(await readPage(pageFolder))
  return {
    name: 'service',
    prefix: '',
    routes: [...page.routes, ...routes],
    fallback: page.fallback,
    authenticate: null,
    describeError,
  }
}

function mountGateway(http: HttpServer, gateway: AgentGateway): void {
  http.onUpgrade((request, socket, head) => {
    gateway.handleUpgrade(request, socket, head)
  })
  http.addRawHandler('GET', `${agentLinkPath}/sources/{sha}`, gateway.handleRequest)
  http.addRawHandler('GET', `${agentLinkPath}/certificates/{sha}`, gateway.handleRequest)
  http.addRawHandler('GET', `${agentLinkPath}/agents/{which}`, gateway.handleRequest)
  http.addRawHandler('PUT', `${agentLinkPath}/answers/{sequence}`, gateway.handleRequest)
}
