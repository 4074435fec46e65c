/**
 * One agent for one cache: wires the parts and keeps what they share.
 *
 * ```
 * coordinator ── link ── instructions ── reconciler ── engine ── cache
 *                 └── heartbeats ── watch ──┘   └── saved state
 * ```
 */
import type { Logger } from 'pino'
import type { Context } from '../context.js'
import { waitAtMost } from '../runtime/pause.js'
import type { EngineCondition } from '../messages/agent-to-coordinator.js'
import type { Instruction, Welcome } from '../messages/coordinator-to-agent.js'
import type { AgentConfig } from './agent-config.js'
import type { AgentResources } from './agent-resources.js'
import { describeAgent, describeChangeable, mayTest, type AgentFacts } from './describe-agent.js'
import { isKept } from './agent-record.js'
import { BackendReports } from './backends/backend-reports.js'
import { SourceChecks } from './check/source-checks.js'
import { chooseCertificateFiles } from './certificates/certificate-files.js'
import { Certificates } from './certificates/hold-certificates.js'
import { fetchCertificate, fetchSource, type Caller } from './link/coordinator-http.js'
import { CoordinatorLink, type LinkOptions } from './link/coordinator-link.js'
import { CoordinatorReports } from './link/coordinator-reports.js'
import { AgentLog } from './log/agent-log.js'
import { AgentCounters } from './counters/agent-counters.js'
import { Engine } from './engine/engine.js'
import { createHandlers } from './link/handlers.js'
import { CacheHealth } from './health/cache-health.js'
import { HostRollbacks } from './apply/host-rollback.js'
import { carryOut, type InstructionPort } from './link/instructions.js'
import { Invalidator } from './invalidate/invalidate.js'
import { openKey, type AgentKey } from './link/key.js'
import { findLockReason } from './host/lock.js'
import { Reconciler } from './apply/reconciler.js'
import { createProtectionCheck } from './apply/protection.js'
import type { SavedState } from './apply/saved-state.js'
import { SettingsMemory } from './apply/settings-memory.js'
import { createSources, type Sources } from './apply/sources.js'
import { openStateOnDisk } from './apply/state-on-disk.js'
import type { EngineObservation } from './engine/flap-damper.js'
import { EngineWatch } from './engine/watch-engine.js'
import { VclTester } from './tests/vcl-tester.js'

export interface RunningAgent {
  /** The content of each heartbeat. */
  condition(): EngineCondition
  isLinked(): boolean
  /** Resolves when links and timers are closed; a load in the cache may continue. */
  stop(): Promise<void>
}

/** Creates what the state dir lacks and resolves; it needs neither the cache nor the coordinator. */
export async function startAgent(
  config: AgentConfig & { readonly stateDir: string },
  log: Logger,
): Promise<RunningAgent> {
  const state = await openStateOnDisk(config.stateDir, log)
  const key = await openKey(config.stateDir, log)
  return runAgent(config, { state, key, stateDir: config.stateDir }, log)
}

export async function runAgent(
  config: AgentConfig,
  resources: AgentResources,
  log: Logger,
): Promise<RunningAgent> {
  const agent = new Agent(config, resources, log)
  await agent.start()
  return agent
}

/** The first hello should describe a running cache, but one that does not answer must not delay the link. */
const firstCheckMs = 1_000

class Agent implements RunningAgent {
  readonly #config: AgentConfig
  readonly #state: SavedState
  readonly #key: AgentKey
  readonly #engine: Engine
  readonly #checks: SourceChecks
  readonly #tester: VclTester
  readonly #reconciler: Reconciler
  readonly #watch: EngineWatch
  readonly #counters: AgentCounters
  readonly #log: AgentLog
  readonly #health: CacheHealth
  readonly #link: CoordinatorLink
  readonly #reports: CoordinatorReports
  readonly #backends: BackendReports
  readonly #instructions: InstructionPort
  readonly #invalidator: Invalidator
  readonly #rollbacks: HostRollbacks | null
  /** Not called for simulated caches, which run no programs. */
  readonly #checkProtection: () => Promise<void>
  readonly #ending = new AbortController()

  constructor(config: AgentConfig, resources: AgentResources, log: Logger) {
    const { state, stateDir, key, limitDials, fetchOnce } = resources
    this.#config = config
    this.#state = state
    this.#key = key
    this.#engine = new Engine(config.engine, log)
    const fetchShared = fetchOnce ?? ((_: string, fetch: () => Promise<string>) => fetch())
    const sources = createSources(state, (sha) =>
      fetchShared(sha, () => fetchSource(this.#caller(), sha)),
    )
    const settings = new SettingsMemory(Date.now)
    const parts = { engine: this.#engine, state, sources, settings, now: Date.now }
    const certificates = new Certificates({
      ...parts,
      files: chooseCertificateFiles({ ...config, ...resources }),
      fetch: (sha) => fetchShared(`tls ${sha}`, () => fetchCertificate(this.#caller(), sha)),
    })
    this.#checks = new SourceChecks({ ...config.checks, ...parts, owner: stateDir ?? null })
    const checks = this.#checks
    this.#tester = new VclTester({ checks, owner: stateDir ?? null })
    const reconciler = new Reconciler({ ...config, ...parts, checks, certificates })
    this.#reconciler = reconciler
    const link = this.#createLink(log, limitDials)
    this.#link = link
    this.#reports = new CoordinatorReports({
      link,
      caller: () => this.#caller(),
      describe: () => describeAgent(this.#config, this.#facts),
      describeChangeable: () => describeChangeable(this.#config, this.#facts),
      condition: () => this.condition(),
      log,
    })
    this.#backends = new BackendReports(this.#engine, (report) => link.send(report))
    this.#watch = new EngineWatch({
      ...parts,
      log,
      reconciler,
      mayChange: () => this.#mayChange(),
      checkBackends: (context, inventory) => this.#backends.check(context, inventory),
      seen: () => {
        this.#reports.reportChanges()
        this.#log.checkAgain(this.#watch.cachePid, () => {
          this.#reports.reportChanges()
        })
      },
      drifted: (drift, context) => {
        this.#reports.reportDrift(drift, context)
      },
      healed: (result, context) => {
        this.#reports.reportHealing(result, context)
      },
    })
    const cache = { cachePid: () => this.#watch.cachePid, product: () => this.#engine.product }
    const { figures } = (this.#log = new AgentLog({ config, state, sources, log, link, ...cache }))
    this.#counters = new AgentCounters({ config, state, log, link, figures, ...cache })
    const { takeover, healthListen: listen = null } = config
    const isLinked = () => link.isLive
    this.#health = new CacheHealth({ ...parts, log, reconciler, listen, takeover, isLinked })
    this.#rollbacks = stateDir === undefined ? null : this.#createRollbacks(stateDir, log)
    this.#instructions = this.#createInstructions(sources, settings)
    this.#invalidator = this.#createInvalidator()
    this.#checkProtection = createProtectionCheck(this.#engine, log)
  }

  isLinked(): boolean {
    return this.#link.isLive
  }

  async start(): Promise<void> {
    await this.#checks.removeLeftovers()
    await this.#tester.removeLeftovers()
    await this.#counters.listen()
    await this.#health.start()
    let resolveSeen: () => void = () => undefined
    const seen = new Promise<void>((resolve) => (resolveSeen = resolve))
    this.#engine.start(() => {
      if (this.#config.engine.mode === 'attach') void this.#checkProtection()
      void this.#watch.checkNow().then(resolveSeen)
    })
    // The periodic checks of a cache that does not answer start here.
    await waitAtMost(firstCheckMs, seen, () => void this.#watch.checkNow())
    this.#link.start()
    this.#rollbacks?.start()
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    this.#checks.stop()
    await this.#tester.stop()
    await this.#rollbacks?.stop()
    await this.#health.stop()
    await this.#link.stop()
    await this.#counters.stop()
    await this.#log.stop()
    await this.#engine.stop()
    await this.#watch.stop()
    await this.#reconciler.stop()
  }

  condition(): EngineCondition {
    const { heldRevision, lockedBecause } = this.#state.record
    const { effectiveRevision } = this.#reconciler
    const { cachePid } = this.#watch
    return { ...this.#observation, heldRevision, effectiveRevision, lockedBecause, cachePid }
  }

  /** An agent that cannot save its state must change nothing: the next process would not know of it. */
  get #observation(): EngineObservation {
    const { trouble } = this.#state
    return trouble === null
      ? this.#watch.observation
      : { engineState: 'unknown', engineError: trouble }
  }

  get #facts(): AgentFacts {
    return {
      record: this.#state.record,
      inventory: this.#watch.inventory,
      engine: this.#engine,
      keyDigest: this.#key.digest,
      hasTls: this.#reconciler.hasTls,
      log: this.#log,
      condition: this.condition(),
    }
  }

  #caller(): Caller {
    const { coordinator: address } = this.#config
    return { address, key: this.#key.secret, signal: this.#ending.signal }
  }

  /**
   * Before the first enrolment no desired state is known (docs/behaviour.md, Read-only agents). After a rollback on this host the
   * agent keeps that state, although it obeys no coordinator.
   */
  #mayChange(): boolean {
    const { coordinatorId, lockedBecause, rolledBackTo } = this.#state.record
    const hasDesiredState =
      coordinatorId !== null && (lockedBecause === null || rolledBackTo !== null)
    return !this.#config.readOnly && hasDesiredState
  }

  #createRollbacks(stateDir: string, log: Logger): HostRollbacks {
    return new HostRollbacks({
      stateDir,
      log,
      state: this.#state,
      reconciler: this.#reconciler,
      readOnly: this.#config.readOnly,
      reportChanges: () => {
        this.#reports.reportChanges()
      },
    })
  }

  #createLink(log: Logger, limitDials: LinkOptions['limitDials']): CoordinatorLink {
    const { coordinator: address, name, joinToken } = this.#config
    return new CoordinatorLink({
      address,
      name,
      joinToken,
      log,
      key: this.#key.secret,
      isKeyNew: this.#key.isNew,
      describe: () => this.#reports.describe(),
      condition: () => this.condition(),
      welcome: (welcome, context) => this.#takeWelcome(welcome, context),
      receive: (message, context) => {
        if (message.kind === 'reportFullState') {
          this.#reports.sendFullState(message.traceId)
          this.#backends.sendAgain()
        } else if (message.kind === 'invalidate') this.#invalidator.take(message, context)
        else if (message.kind === 'log') this.#log.take(message)
        else if (message.kind === 'standing') void this.#health.take(message)
        else if (message.kind === 'watch' || message.kind === 'observe')
          this.#counters.take(message)
        else void this.#carryOut(message, context)
      },
      ...(limitDials && { limitDials }),
    })
  }

  /**
   * A coordinator that sends an older revision has lost data (a restored database): the next welcome shows whether that is
   * so, and then this agent is locked.
   */
  async #carryOut(message: Instruction, context: Context): Promise<void> {
    const { heldRevision, lockedBecause } = this.#state.record
    const isApply = lockedBecause === null && message.kind === 'apply'
    const isOlder = isApply && message.revision < heldRevision
    await carryOut(this.#instructions, message, context)
    if (isOlder)
      this.#link.redial(`revision ${message.revision} was sent, and ${heldRevision} is held`)
  }

  #createInvalidator(): Invalidator {
    return new Invalidator({
      engine: this.#engine,
      http: this.#config.http,
      purgeCounter: this.#counters.purges,
      now: Date.now,
      findObstacle: () => {
        const { lockedBecause } = this.#state.record
        if (this.#config.readOnly) return 'this agent is read-only'
        return lockedBecause === null ? null : `locked: ${lockedBecause}`
      },
      report: (outcome, traceId) => this.#link.send({ kind: 'invalidated', traceId, ...outcome }),
    })
  }

  #createInstructions(sources: Sources, settings: SettingsMemory): InstructionPort {
    return {
      readOnly: this.#config.readOnly,
      hasTests: mayTest(this.#config),
      handlers: createHandlers({
        engine: this.#engine,
        state: this.#state,
        sources,
        settings,
        reconciler: this.#reconciler,
        takeover: this.#config.takeover,
        checks: this.#checks,
        tester: this.#tester,
        checkCache: () => this.#watch.checkNow(),
        countTop: (question) => this.#log.countTop(question, this.#ending.signal),
      }),
      report: (report) => {
        this.#reports.reportApply(report)
        if (report.changed) this.#watch.noteChange()
      },
      answer: (answer, context) => this.#reports.answer(answer, context),
    }
  }

  async #takeWelcome(welcome: Welcome, context: Context): Promise<void> {
    const { record } = this.#state
    const { coordinatorId, agentId } = welcome
    const lockedBecause = findLockReason(record, welcome)
    if (lockedBecause !== null)
      context.log.warn({ why: lockedBecause }, 'locked: nothing is changed until it is unlocked')
    const isTaken = lockedBecause === null ? { coordinatorId, agentId } : {}
    const change = { ...isTaken, lockedBecause, seenCoordinatorId: coordinatorId }
    if (!isKept(record, change)) await this.#state.change(change)
    await this.#health.take(welcome)
    this.#watch.setHeartbeat(welcome.heartbeatMs)
    this.#counters.sample(welcome.statsIntervalMs, welcome.takesFigures === true)
    // After this the link counts as live.
    setImmediate(() => {
      this.#reports.sendUnsent()
      this.#backends.sendAgain()
    })
  }
}
