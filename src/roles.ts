/** Starts the roles in the settings: a coordinator, an agent, simulated agents. Each module is loaded only when it is needed. */
import { join } from 'node:path'
import type { Logger } from 'pino'
import { readCompileLimits } from '../config/formats.js'
import type { Settings } from '../config/schema.js'
import type { AgentConfig, EngineConfig } from './agent/agent-config.js'
import type { RunningCoordinator } from './coordinator/coordinator.js'
import { defaultSecretKeyFile, defaultStoreUrl } from './coordinator/places.js'
import { readIfThere } from './runtime/durable-file.js'
import { openStateDir } from './state-dir.js'
import { version } from './version.js'

interface ProcessContext {
  /** PATH. */
  readonly searchPath: string
  readonly stdoutIsTerminal: boolean
}

export interface RunningRoles {
  readonly coordinator: RunningCoordinator | null
  /** Reloads certificates and the secret key; join tokens are read at each use. */
  reload(): Promise<void>
  stop(): Promise<void>
}

interface Part {
  stop(): Promise<void>
}

export async function startRoles(
  settings: Settings,
  log: Logger,
  processContext: ProcessContext,
): Promise<RunningRoles> {
  await openStateDir(settings.stateDir)
  const parts: Part[] = []
  // In reverse order: agents stop before the coordinator that they are connected to.
  const stop = async (): Promise<void> => {
    for (const part of parts.toReversed()) await part.stop()
  }
  try {
    const coordinator = settings.coordinator
      ? await startOwnCoordinator(settings, log, processContext)
      : null
    if (coordinator) {
      parts.push({ stop: () => coordinator.close() })
      warnAboutPlainListener(settings, log)
      warnAboutLoneBus(settings, log)
    } else warnAboutPlainLink(settings, log)
    const home = await describeHome(settings, coordinator)
    if (!settings.noAgent) parts.push(...(await startOwnAgent(settings, home, log, processContext)))
    if (settings.simulate > 0) parts.push(await startSimulation(settings, home, log))
    return { coordinator, reload: async () => coordinator?.reload(), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startOwnCoordinator(
  settings: Settings,
  log: Logger,
  processContext: ProcessContext,
): Promise<RunningCoordinator> {
  const { startCoordinator } = await import('./coordinator/coordinator.js')
  const { stateDir } = settings
  return startCoordinator(
    {
      stateDir,
      listen: settings.listen,
      tls: chooseTls(settings),
      tlsNames: settings.tlsNames,
      storeUrl: settings.store ?? defaultStoreUrl(stateDir),
      busUrl: settings.bus,
      apis: new Set(settings.apis),
      licenseKeyFile: settings.licenseKey,
      publicUrl: settings.publicUrl,
      trustedProxies: settings.trustedProxies,
      connectionsPerAddress: settings.connectionsPerAddress,
      secretKeyFile: settings.secretKeyFile ?? defaultSecretKeyFile(stateDir),
      adminUser: settings.adminUser,
      adminPassword: settings.adminPassword,
      stdoutIsTerminal: processContext.stdoutIsTerminal,
      statsArchives: settings.statsArchives,
      settings: {
        heartbeatMs: settings.heartbeat * 1000,
        statsIntervalMs: settings.statsInterval * 1000,
        // docs/behaviour.md, Tokens.
        accessTtlSeconds: 600,
        refreshTtlSeconds: 3600,
        apiLogDays: settings.apilogDays,
        allowedIncludes: new Set(settings.includes),
        allowedModules: new Set(settings.vmods),
        webhookNetworks: settings.webhookNetworks,
      },
    },
    log,
  )
}

/** `own`: the coordinator issues its own certificate. */
function chooseTls({ tls, tlsCert, tlsKey, listen }: Settings) {
  if (tlsCert !== null && tlsKey !== null) return { certFile: tlsCert, keyFile: tlsKey }
  return tls === 'auto' && !isLoopback(listen.host) ? 'own' : null
}

function warnAboutPlainListener(settings: Settings, log: Logger): void {
  const { listen } = settings
  if (chooseTls(settings) === null && !isLoopback(listen.host))
    log.warn(
      { listen },
      'passwords and keys travel unencrypted to this listener: --tls off is for a proxy in front that speaks TLS, and alone reaches it',
    )
}

/** The same warning for the agent's side. */
function warnAboutPlainLink({ coordinatorUrl }: Settings, log: Logger): void {
  const isPlain = coordinatorUrl.split(',').some((text) => {
    const { protocol, hostname } = new URL(text)
    return protocol === 'ws:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''))
  })
  if (isPlain)
    log.warn('the key of this agent travels unencrypted: use wss:// in --coordinator-url')
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || /^(127\.|::1$)/.test(host)
}

function warnAboutLoneBus({ store, bus }: Settings, log: Logger): void {
  const isSharedStore = store?.startsWith('postgres') ?? false
  if (isSharedStore && bus === 'in-process')
    log.warn(
      'this must be the only coordinator of its PostgreSQL store: several need the same --bus nats://… on each',
    )
  if (!isSharedStore && bus !== 'in-process')
    log.warn('a bus between coordinators needs a store that they share: set --store postgres://…')
}

/** The coordinator that the agents of this process connect to, and how they enrol. */
interface Home {
  readonly coordinator: AgentConfig['coordinator']
  readonly joinToken: (label: string, uses: number) => Promise<string | undefined>
}

async function describeHome(
  settings: Settings,
  coordinator: RunningCoordinator | null,
): Promise<Home> {
  if (coordinator)
    return {
      coordinator: {
        url: coordinator.address.replace(/^http/, 'ws'),
        caFile: null,
        isOwn: true,
      },
      joinToken: (label, uses) => coordinator.createJoinToken(label, uses),
    }
  const { createCaPin } = await import('./agent/link/ca-pin.js')
  const joinToken = (): Promise<string | undefined> => readJoinToken(settings)
  const pin = createCaPin({ file: join(settings.stateDir, 'coordinator-ca.pem'), joinToken })
  return {
    coordinator: { url: settings.coordinatorUrl, caFile: settings.coordinatorCa, pin },
    joinToken,
  }
}

async function readJoinToken({ joinToken, joinTokenFile }: Settings): Promise<string | undefined> {
  if (joinToken !== null) return joinToken
  if (joinTokenFile === null) return undefined
  // Needed only for enrolment: an enrolled agent works without the file.
  return (await readIfThere(joinTokenFile))?.trim()
}

async function startOwnAgent(
  settings: Settings,
  home: Home,
  log: Logger,
  processContext: ProcessContext,
): Promise<Part[]> {
  const { startAgent } = await import('./agent/agent.js')
  const { spreadAddress } = await import('./agent/link/coordinator-address.js')
  const cache = await findEngine(settings, log, processContext)
  try {
    const agent = await startAgent(
      {
        agentVersion: version,
        name: settings.name,
        tags: settings.tags,
        readOnly: settings.readOnly,
        takeover: settings.takeover,
        adoptGroup: settings.adoptGroup,
        warmupMs: settings.warmup * 1000,
        furtherCounters: settings.counters,
        maskHeaders: settings.maskHeaders.map((name) => name.toLowerCase()),
        maskQuery: settings.maskQuery,
        sampleRate: settings.sampleRate,
        metricsListen: settings.metricsListen,
        healthListen: settings.healthListen,
        tlsDir: settings.tlsDir,
        checks: describeChecks(settings),
        tests: settings.tests ?? chooseMode(settings) === 'spawn',
        stateDir: settings.stateDir,
        coordinator: spreadAddress(home.coordinator, settings.name),
        joinToken: () => home.joinToken('local agent', 1),
        engine: cache.engine,
        http: cache.http,
      },
      log,
    )
    return [cache, agent]
  } catch (error) {
    // For example an address in use: a private cache must not outlive the process.
    await cache.stop()
    throw error
  }
}

function describeChecks({ engineProgram, tenantCompile }: Settings): AgentConfig['checks'] {
  const budgetLimits = readCompileLimits(tenantCompile)
  if (!budgetLimits) throw new Error('the form of a setting was checked when it was read')
  return { program: engineProgram, budgetLimits }
}

interface FoundEngine extends Part {
  readonly engine: EngineConfig
  readonly http: AgentConfig['http']
}

function chooseMode({ engine, coordinator }: Settings) {
  return engine ?? (coordinator ? 'spawn' : 'attach')
}

async function findEngine(
  settings: Settings,
  log: Logger,
  processContext: ProcessContext,
): Promise<FoundEngine> {
  const mode = chooseMode(settings)
  if (mode === 'attach') return attachEngine(settings)
  if (mode === 'spawn') {
    const { spawnable, startSpawnedEngine } = await import('./agent/engine/spawned-engine.js')
    const { stateDir } = settings
    const spawned = await startSpawnedEngine({
      stateDir,
      searchPath: processContext.searchPath,
      log,
    })
    if (spawned) return spawned
    log.warn(`there is no ${spawnable} on PATH or in /usr/sbin: the cache is simulated`)
  }
  const { createSimulatedCache } = await import('./agent/simulated/simulated-cache.js')
  return createSimulatedCache({ http: settings.engineHttp, compileMs: settings.simulateCompileMs })
}

function attachEngine(settings: Settings): FoundEngine {
  const { engineAddress, engineSecretFile, engineName, engineHttp } = settings
  return {
    engine: {
      mode: 'attach',
      ...engineAddress,
      secretFile: engineSecretFile,
      workingDirectory: engineName,
    },
    http: engineHttp,
    stop: () => Promise.resolve(),
  }
}

async function startSimulation(settings: Settings, home: Home, log: Logger): Promise<Part> {
  const { startSimulatedAgents } = await import('./agent/simulated/simulated-agents.js')
  return startSimulatedAgents(
    {
      agentVersion: version,
      count: settings.simulate,
      name: settings.name,
      tags: [...settings.tags, 'simulated'],
      compileMs: settings.simulateCompileMs,
      hasTls: settings.simulateTls,
      stateDir: settings.stateDir,
      coordinator: home.coordinator,
      joinToken: () => home.joinToken('simulated agents', settings.simulate),
    },
    log,
  )
}
