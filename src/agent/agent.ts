/**
 * One agent for one cache: wires the parts and keeps what they share.
 *
 * ```
 * coordinator ── link ── instructions ── reconciler ── engine ── cache
 *                 └── heartbeats ── watch ──┘   └── saved state
 * ```
 */
import type { Logger } from 'pino'
import { createContext, newTraceId, type Context } from '../context.js'
import { capabilitiesOf } from '../domain/capability.js'
import type {
  AgentDescription,
  Answer,
  ApplyReport,
  Drift,
  EngineCondition,
  ProgramFailure,
} from '../messages/agent-to-coordinator.js'
import type { CoordinatorToAgent, Welcome } from '../messages/coordinator-to-agent.js'
import { messageLimitBytes } from '../messages/envelope.js'
import type { AgentConfig } from './agent-config.js'
import type { AgentRecord } from './agent-record.js'
import { fetchSource, putAnswer } from './coordinator-http.js'
import { CoordinatorLink, type LinkOptions, type Unsent } from './coordinator-link.js'
import { createHandlers } from './handlers.js'
import { Engine } from './engine.js'
import { carryOut, type InstructionPort } from './instructions.js'
import { openKey, type AgentKey } from './key.js'
import { findLockReason } from './lock.js'
import { Reconciler, type ApplyResult } from './reconciler.js'
import type { SavedState } from './saved-state.js'
import { createSources, type Sources } from './sources.js'
import { openStateOnDisk } from './state-on-disk.js'
import { EngineWatch } from './watch-engine.js'

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
  return runAgent(config, { state, key }, log)
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
/** Room for what is around the value in a message. */
const answerOverheadBytes = 4_096
/** In characters: none of them takes more than six bytes of JSON. */
const reportedWordsLimit = 150_000

class Agent {
  readonly #config: AgentConfig
  readonly #belongings: AgentBelongings
  readonly #log: Logger
  readonly #engine: Engine
  readonly #sources: Sources
  readonly #reconciler: Reconciler
  readonly #watch: EngineWatch
  readonly #link: CoordinatorLink
  /** What was told last, as text: a change is told at once. */
  #toldVersion = ''
  #toldCondition = ''
  /** Said when nobody listened; the newest of each is said after the next welcome. */
  #unsaidReport: Unsent<ApplyReport> | null = null
  #unsaidDrift: Drift | null = null
  /** How the newest apply ended; what healing makes of it is told only when that differs. */
  #toldResult: ApplyReport['result'] | null = null

  constructor(config: AgentConfig, belongings: AgentBelongings, log: Logger) {
    const { state, key } = belongings
    this.#config = config
    this.#belongings = belongings
    this.#log = log
    this.#engine = new Engine(config.engine, log)
    this.#sources = createSources(state, (sha) => {
      const fetch = () => fetchSource(config.coordinator, key.secret, sha)
      return belongings.fetchOnce ? belongings.fetchOnce(sha, fetch) : fetch()
    })
    const parts = { engine: this.#engine, state, sources: this.#sources, now: Date.now }
    this.#reconciler = new Reconciler({
      ...parts,
      takeover: config.takeover,
      warmupMs: config.warmupMs,
    })
    this.#watch = new EngineWatch({
      ...parts,
      log,
      reconciler: this.#reconciler,
      mayChange: () => this.#mayChange(),
      seen: () => {
        this.#tellChanges()
      },
      drifted: (drift, context) => {
        this.#reportDrift(drift, context)
      },
      healed: (result, context) => {
        this.#reportHealing(result, context)
      },
    })
    this.#link = new CoordinatorLink({
      address: config.coordinator,
      name: config.name,
      key: key.secret,
      joinToken: config.joinToken,
      describe: () => this.#describe(),
      condition: () => this.condition(),
      welcome: (welcome, context) => this.#takeWelcome(welcome, context),
      receive: (message, context) => {
        this.#receive(message, context)
      },
      ...(belongings.takeTurn && { takeTurn: belongings.takeTurn }),
      log,
    })
  }

  get isLinked(): boolean {
    return this.#link.isLive
  }

  async start(): Promise<void> {
    let tellSeen: () => void = () => undefined
    const seen = new Promise<void>((resolve) => (tellSeen = resolve))
    this.#engine.start(() => {
      void this.#watch.lookNow().then(tellSeen)
    })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, firstLookMs)))
    await Promise.race([seen, late])
    clearTimeout(timer)
    void this.#watch.lookNow() // also when the cache is away: it is looked at from now on
    this.#link.start()
  }

  async stop(): Promise<void> {
    await this.#link.stop()
    await this.#engine.stop()
    await this.#watch.stop()
    await this.#reconciler.settle()
  }

  condition(): EngineCondition {
    const { record } = this.#belongings.state
    return {
      ...this.#watch.sight,
      heldRevision: record.heldRevision,
      effectiveRevision: this.#reconciler.effectiveRevision,
      lockedBecause: record.lockedBecause,
    }
  }

  #describe(): AgentDescription {
    const { http, engine, name, tags, agentVersion, readOnly } = this.#config
    this.#toldVersion = this.#engine.version
    const condition = this.condition()
    this.#toldCondition = JSON.stringify(condition)
    return {
      name,
      agentVersion,
      capabilities: capabilitiesOf({ readOnly }),
      tags,
      coordinatorId: this.#belongings.state.record.coordinatorId,
      keyDigest: this.#belongings.key.digest,
      engine: {
        host: http.host,
        port: http.port,
        version: this.#engine.version,
        workingDirectory: engine.mode === 'attach' ? engine.workingDirectory : null,
      },
      condition,
    }
  }

  /** Before the first enrolment nobody has said what is wanted (choices: 3, Read-only, Locked). */
  #mayChange(): boolean {
    const { coordinatorId, lockedBecause } = this.#belongings.state.record
    return !this.#config.readOnly && coordinatorId !== null && lockedBecause === null
  }

  async #takeWelcome(welcome: Welcome, context: Context): Promise<void> {
    const { state } = this.#belongings
    const { coordinatorId, agentId } = welcome
    const lockedBecause = findLockReason(state.record, welcome)
    if (lockedBecause !== null)
      context.log.warn({ why: lockedBecause }, 'locked: nothing is changed until it is unlocked')
    const isTaken = lockedBecause === null ? { coordinatorId, agentId } : {}
    const change = { ...isTaken, lockedBecause, seenCoordinatorId: coordinatorId }
    if (!isKept(state.record, change)) await state.change(change)
    this.#watch.setHeartbeat(welcome.heartbeatMs)
    setImmediate(() => {
      this.#tellUnsaid()
      this.#tellChanges()
    })
  }

  #receive(message: Exclude<CoordinatorToAgent, Welcome>, context: Context): void {
    if (message.kind === 'reportFullState') {
      this.#link.send({ kind: 'fullState', traceId: message.traceId, ...this.#describe() })
      return
    }
    void carryOut(this.#port(), message, context)
  }

  #port(): InstructionPort {
    return {
      readOnly: this.#config.readOnly,
      handlers: createHandlers({
        config: this.#config,
        engine: this.#engine,
        state: this.#belongings.state,
        reconciler: this.#reconciler,
        look: () => this.#watch.lookNow(),
      }),
      report: (report) => {
        this.#report(report)
      },
      answer: (answer, context) => this.#answer(answer, context),
    }
  }

  #report(report: Unsent<ApplyReport>): void {
    const bounded = { ...report, failures: limitWords(report.failures) }
    this.#toldResult = report.result
    this.#unsaidReport = this.#link.send(bounded) ? null : bounded
    if (report.changed) void this.#watch.lookNow() // such as a child that was started
    this.#tellChanges()
  }

  async #answer(answer: Unsent<Answer>, context: Context): Promise<void> {
    const json = JSON.stringify(answer.value)
    if (Buffer.byteLength(json) + answerOverheadBytes <= messageLimitBytes) {
      this.#link.send(answer)
      return
    }
    const { instruction } = answer
    try {
      const { coordinator } = this.#config
      await putAnswer(coordinator, this.#belongings.key.secret, { instruction, json })
      this.#link.send({ ...answer, value: null, sentByPut: true })
    } catch (error) {
      context.log.warn({ err: error }, 'a large answer could not be sent')
      const reason = 'the answer is over 1 MiB and could not be sent by PUT'
      this.#link.send({ ...answer, value: null, result: 'failed', error: reason })
    }
  }

  #reportDrift(drift: Drift, context: Context): void {
    context.log.warn(drift, 'the cache was changed by somebody else')
    const message = { kind: 'drift', traceId: context.traceId, drift } as const
    this.#unsaidDrift = this.#link.send(message) ? null : drift
  }

  /** Chosen by us: healing that ends otherwise than the last apply is a report of its own, to the welcome (1). */
  #reportHealing(result: ApplyResult, context: Context): void {
    if (result.result === 'refused' || result.result === this.#toldResult) return
    const { result: how, error, loaded, failures, changed } = result
    const { heldRevision: revision } = this.#belongings.state.record
    this.#report({
      ...{ kind: 'applyReport', traceId: context.traceId, instruction: 1, revision },
      ...{ result: how, error, loaded, failures, changed },
    })
  }

  #tellUnsaid(): void {
    const [report, drift] = [this.#unsaidReport, this.#unsaidDrift]
    if (report && this.#link.send({ ...report, instruction: 1 })) this.#unsaidReport = null
    if (drift && this.#link.send({ kind: 'drift', traceId: newTraceId(), drift }))
      this.#unsaidDrift = null
  }

  /** What changed since it was last told is not kept for the next heartbeat. */
  #tellChanges(): void {
    if (!this.#link.isLive) return
    if (this.#engine.version !== this.#toldVersion) {
      const { traceId } = createContext(this.#log)
      this.#link.send({ kind: 'fullState', traceId, ...this.#describe() })
      return
    }
    const condition = JSON.stringify(this.condition())
    if (condition === this.#toldCondition) return
    this.#toldCondition = condition
    this.#link.sendCondition()
  }
}

function isKept(record: AgentRecord, change: Partial<AgentRecord>): boolean {
  return JSON.stringify({ ...record, ...change }) === JSON.stringify(record)
}

/** A report must fit into a message, whatever the compiler had to say about however many VCLs. */
function limitWords(failures: readonly ProgramFailure[]): readonly ProgramFailure[] {
  const share = Math.floor(reportedWordsLimit / Math.max(1, failures.length))
  return failures.map(({ program, error }) => ({ program, error: error.slice(0, share) }))
}
