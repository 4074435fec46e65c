/**
 * One agent for one cache: wires the parts and keeps what they share.
 *
 * ```
 * coordinator ── link ── instructions ── reconciler ── engine ── cache
 *                 └── heartbeats ── watch ──┘   └── saved state
 * ```
 */
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Context } from '../context.js'
import { waitAtMost } from '../runtime/pause.js'
import { capabilitiesOf } from '../resources/capability.js'
import type { AgentDescription, EngineCondition } from '../messages/agent-to-coordinator.js'
import type { Instruction, Welcome } from '../messages/coordinator-to-agent.js'
import { isToAdopt } from './apply/adopt.js'
import type { AgentConfig } from './agent-config.js'
import type { AgentRecord } from './agent-record.js'
import { SourceChecks } from './check/source-checks.js'
import { fetchSource, type Caller } from './link/coordinator-http.js'
import { CoordinatorLink, type LinkOptions } from './link/coordinator-link.js'
import { CoordinatorReports } from './link/coordinator-reports.js'
import { AgentCounters } from './counters/agent-counters.js'
import { Engine } from './engine/engine.js'
import { createHandlers } from './link/handlers.js'
import { describeHeld } from './apply/held-cache.js'
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
import type { EngineSight } from './engine/steadiness.js'
import { EngineWatch } from './engine/watch-engine.js'

export interface RunningAgent {
  /** What the coordinator is told with each heartbeat. */
  readonly condition: () => EngineCondition
  readonly isLinked: () => boolean
  /** Resolves when links and timers are gone; what is being loaded may go on in the cache. */
  stop(): Promise<void>
}

/** What a simulated agent has of its own making, and shares with the others of its process. */
export interface AgentBelongings {
  readonly state: SavedState
  readonly key: AgentKey
  /** Where `cachefleetd rollback` may ask for something. */
  readonly stateDir?: string
  readonly takeTurn?: LinkOptions['takeTurn']
  /** Replaces the call to the coordinator: a text that many agents want at once is fetched once. */
  readonly fetchOnce?: (sha: string, fetch: () => Promise<string>) => Promise<string>
}

/** Makes what is missing in the state dir and resolves; neither the cache nor the coordinator need be there. */
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
  belongings: AgentBelongings,
  log: Logger,
): Promise<RunningAgent> {
  const agent = new Agent(config, belongings, log)
  await agent.start()
  return {
    condition: () => agent.condition(),
    isLinked: () => agent.isLinked,
    stop: () => agent.stop(),
  }
}

/** A cache that answers is told of in the first hello; one that does not shall not hold up the link. */
const firstLookMs = 1_000

class Agent {
  readonly #config: AgentConfig
  readonly #state: SavedState
  readonly #key: AgentKey
  readonly #engine: Engine
  readonly #checks: SourceChecks
  readonly #reconciler: Reconciler
  readonly #watch: EngineWatch
  readonly #counters: AgentCounters
  readonly #link: CoordinatorLink
  readonly #reports: CoordinatorReports
  readonly #instructions: InstructionPort
  readonly #invalidator: Invalidator
  readonly #rollbacks: HostRollbacks | null
  /** Simulated caches run no programs. */
  readonly #checkProtection: () => Promise<void>
  readonly #ending = new AbortController()

  constructor(config: AgentConfig, belongings: AgentBelongings, log: Logger) {
    const { state, key, takeTurn, fetchOnce } = belongings
    this.#config = config
    this.#state = state
    this.#key = key
    this.#engine = new Engine(config.engine, log)
    const sources = createSources(state, (sha) => {
      const fetch = () => fetchSource(this.#caller(), sha)
      return fetchOnce ? fetchOnce(sha, fetch) : fetch()
    })
    const settings = new SettingsMemory(Date.now)
    const parts = { engine: this.#engine, state, sources, settings, now: Date.now }
    const { takeover, warmupMs } = config
    const owner = belongings.stateDir ?? null
    this.#checks = new SourceChecks({ ...config.checks, ...parts, owner })
    this.#reconciler = new Reconciler({ ...parts, takeover, warmupMs, checks: this.#checks })
    this.#link = this.#createLink(log, takeTurn)
    this.#reports = new CoordinatorReports({
      link: this.#link,
      caller: () => this.#caller(),
      describe: () => this.#describe(),
      condition: () => this.condition(),
      log,
    })
    this.#watch = new EngineWatch({
      ...parts,
      log,
      reconciler: this.#reconciler,
      mayChange: () => this.#mayChange(),
      seen: () => {
        this.#reports.tellChanges()
      },
      drifted: (drift, context) => {
        this.#reports.reportDrift(drift, context)
      },
      healed: (result, context) => {
        this.#reports.reportHealing(result, context)
      },
    })
    this.#counters = new AgentCounters({
      ...{ config, log, link: this.#link },
      cachePid: () => this.#watch.cachePid,
    })
    this.#rollbacks = this.#createRollbacks(belongings.stateDir, log)
    this.#instructions = this.#createInstructions(sources, settings)
    this.#invalidator = this.#createInvalidator()
    this.#checkProtection = createProtectionCheck(this.#engine, log)
  }

  get isLinked(): boolean {
    return this.#link.isLive
  }

  async start(): Promise<void> {
    await this.#checks.removeLeftovers()
    await this.#counters.listen()
    let tellSeen: () => void = () => undefined
    const seen = new Promise<void>((resolve) => (tellSeen = resolve))
    this.#engine.start(() => {
      if (this.#config.engine.mode === 'attach') void this.#checkProtection()
      void this.#watch.lookNow().then(tellSeen)
    })
    await waitAtMost(firstLookMs, seen, () => undefined)
    void this.#watch.lookNow() // also when the cache does not answer: it is looked at from now on
    this.#link.start()
    this.#rollbacks?.start()
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    this.#checks.stop()
    await this.#rollbacks?.stop()
    await this.#link.stop()
    await this.#counters.stop()
    await this.#engine.stop()
    await this.#watch.stop()
    await this.#reconciler.stop()
  }

  condition(): EngineCondition {
    const { heldRevision, lockedBecause } = this.#state.record
    const { effectiveRevision } = this.#reconciler
    const { cachePid } = this.#watch
    const sight = this.#sight
    return { ...sight, heldRevision, effectiveRevision, lockedBecause, cachePid }
  }

  /** An agent that can save nothing must change nothing: what it does would be forgotten by the next process. */
  get #sight(): EngineSight {
    const { trouble } = this.#state
    return trouble === null ? this.#watch.sight : { engineState: 'unknown', engineError: trouble }
  }

  #describe(): AgentDescription {
    const { http, engine, name, tags, agentVersion, readOnly, takeover, adoptGroup } = this.#config
    const { record } = this.#state
    const { coordinatorId, lockedBecause } = record
    const { inventory } = this.#watch
    const isSeen = this.#sight.engineState === 'running'
    const isHeld = lockedBecause !== null && inventory !== null
    return {
      name,
      agentVersion,
      capabilities: capabilitiesOf({ readOnly }),
      tags,
      coordinatorId,
      keyDigest: this.#key.digest,
      ...(isToAdopt(this.#config, record) && {
        adoption: isSeen ? 'ready' : 'waiting',
        ...(typeof adoptGroup === 'string' && { adoptGroup }),
      }),
      ...(isHeld && { held: describeHeld(record, inventory, takeover) }),
      hostName: hostname(),
      engine: {
        host: http.host,
        port: http.port,
        version: this.#engine.version,
        revision: this.#engine.revision,
        workingDirectory: engine.mode === 'attach' ? engine.workingDirectory : null,
      },
      condition: this.condition(),
    }
  }

  #caller(): Caller {
    const { coordinator: address } = this.#config
    return { address, key: this.#key.secret, signal: this.#ending.signal }
  }

  /**
   * Before the first enrolment nobody has said what is wanted (docs/behaviour.md, Read-only agents); what somebody wanted on
   * this host is held, though no coordinator's word is taken.
   */
  #mayChange(): boolean {
    const { coordinatorId, lockedBecause, rolledBackTo } = this.#state.record
    const isTold = coordinatorId !== null && (lockedBecause === null || rolledBackTo !== null)
    return !this.#config.readOnly && isTold
  }

  #createRollbacks(stateDir: string | undefined, log: Logger): HostRollbacks | null {
    if (stateDir === undefined) return null
    return new HostRollbacks({
      ...{ stateDir, log, state: this.#state, reconciler: this.#reconciler },
      readOnly: this.#config.readOnly,
      tellChanges: () => {
        this.#reports.tellChanges()
      },
    })
  }

  #createLink(log: Logger, takeTurn: LinkOptions['takeTurn']): CoordinatorLink {
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
          const { traceId } = message
          this.#link.send({ kind: 'fullState', traceId, ...this.#reports.describe() })
          return
        }
        if (message.kind === 'invalidate') this.#invalidator.take(message, context)
        else if (message.kind === 'watch') this.#counters.watch(message.forMs)
        else void this.#carryOut(message, context)
      },
      ...(takeTurn && { takeTurn }),
    })
  }

  /**
   * A coordinator that wants less than it wanted once has lost what it knew (a restored database): the next welcome says
   * whether that is so, and then this agent is locked.
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
      handlers: createHandlers({
        engine: this.#engine,
        state: this.#state,
        sources,
        settings,
        reconciler: this.#reconciler,
        takeover: this.#config.takeover,
        checks: this.#checks,
        look: () => this.#watch.lookNow(),
      }),
      report: (report) => {
        this.#reports.reportApply(report)
        if (report.changed) void this.#watch.lookNow() // such as a child that was started
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
    this.#watch.setHeartbeat(welcome.heartbeatMs)
    this.#counters.sample(welcome.statsIntervalMs)
    // When the link counts as live.
    setImmediate(() => {
      this.#reports.tellUnsaid()
    })
  }
}

function isKept(record: AgentRecord, change: Partial<AgentRecord>): boolean {
  return JSON.stringify({ ...record, ...change }) === JSON.stringify(record)
}
