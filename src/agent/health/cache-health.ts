/**
 * Keeps the answer of `--health-listen` current: it checks the cache more often than for reports, because a load balancer should
 * react within a second. While the manager is busy, the child's process is checked on this host instead.
 */
import type { Logger } from 'pino'
import type { Context } from '../../context.js'
import type { Welcome } from '../../messages/coordinator-to-agent.js'
import { startLoop, type Loop } from '../../runtime/loop.js'
import { waitAtMost } from '../../runtime/pause.js'
import type { EngineInventory } from '../../vcl/engine-inventory.js'
import { isHeldForFirstDeploy, type Takeover } from '../../vcl/takeover.js'
import { isKept } from '../agent-record.js'
import { readInventory, readProcesses } from '../apply/inventory.js'
import type { Reconciler } from '../apply/reconciler.js'
import type { SavedState } from '../apply/saved-state.js'
import type { Engine } from '../engine/engine.js'
import { isChildStopping, isChildThere } from '../engine/stopping-child.js'
import { startHealthListener } from './health-listener.js'
import type { Listener } from '../host/open-listener.js'
import { judgeHealth, servesDesired, type Health, type HealthFacts } from './judge-health.js'

type WelcomedStanding = Pick<Welcome, 'draining' | 'behind'>

interface CacheHealthOptions {
  readonly listen: { readonly host: string; readonly port: number } | null
  readonly engine: Engine
  readonly reconciler: Pick<Reconciler, 'isBusy'>
  readonly state: SavedState
  readonly takeover: Takeover
  readonly isLinked: () => boolean
  readonly log: Logger
}

/** Together with the cache's response time well below the second in which load balancers should react. */
const everyMs = 300
/** A cache that has not answered by then counts as busy. */
const answersWithinMs = 300

export class CacheHealth {
  readonly #options: CacheHealthOptions
  #seen: Pick<HealthFacts, 'cache' | 'servesDesired'> = {
    cache: 'unreachable',
    servesDesired: false,
  }
  /** True when the cache is behind with invalidations, as the coordinator last reported. */
  #behind = false
  #childPid: number | null = null
  #asking: Promise<void> | null = null
  #loop: Loop | null = null
  #listener: Listener | null = null

  constructor(options: CacheHealthOptions) {
    this.#options = options
  }

  /** Rejects when it cannot listen on the address. Does nothing if none is configured. */
  async start(): Promise<void> {
    const { listen, log } = this.#options
    if (listen === null) return
    this.#listener = await startHealthListener({ listen, read: () => this.#judge(), log })
    this.#loop = startLoop({
      log,
      trouble: 'the health of the cache could not be checked',
      everyMs,
      firstMs: 0,
      pass: ({ context }) => this.#check(context),
    })
  }

  /** Takes the coordinator's fields, which earlier versions do not send. Draining is saved across restarts. */
  async take({ draining = false, behind = false }: WelcomedStanding): Promise<void> {
    const { state } = this.#options
    const { record } = state
    this.#behind = behind
    if (record.lockedBecause === null && !isKept(record, { draining }))
      await state.change({ draining })
  }

  async stop(): Promise<void> {
    await this.#listener?.close()
    await this.#loop?.close()
  }

  #judge(): Health {
    const { state, isLinked } = this.#options
    const { draining } = state.record
    return judgeHealth({ ...this.#seen, draining, behind: this.#behind, isLinked: isLinked() })
  }

  async #check(context: Context): Promise<void> {
    const { engine } = this.#options
    // One check at a time: a busy manager is not asked again before it has answered.
    this.#asking ??= this.#ask(context).finally(() => (this.#asking = null))
    const asking = this.#asking.then(() => true)
    if (await waitAtMost(answersWithinMs, asking, () => false)) return
    if (engine.isOfThisHost && this.#childPid !== null) await this.#checkChild(this.#childPid)
  }

  /** Never rejects. */
  async #ask(context: Context): Promise<void> {
    const { engine, reconciler } = this.#options
    try {
      const { workerPid } = await readProcesses(engine, context)
      const inventory = await readInventory(engine, context)
      this.#childPid = workerPid ?? this.#childPid
      const cache = inventory.childRunning ? 'running' : 'stopped'
      // During an apply another VCL may serve briefly, which is no fault of the cache.
      const isKept = reconciler.isBusy && this.#seen.servesDesired
      this.#seen = { cache, servesDesired: isKept || this.#serves(inventory) }
      if (engine.isOfThisHost && workerPid !== null) await this.#checkChild(workerPid)
    } catch {
      const isThere = engine.isOfThisHost && this.#childPid !== null
      if (!isThere || !(await isChildThere(this.#childPid ?? 0)))
        this.#seen = { cache: 'unreachable', servesDesired: false }
    }
  }

  #serves(inventory: EngineInventory): boolean {
    const { takeover, state } = this.#options
    const { desired, takenOver } = state.record
    // Until a desired state is known, whatever the cache serves is right.
    if (desired === null || isHeldForFirstDeploy(takeover, takenOver, desired)) return true
    return servesDesired(desired, inventory)
  }

  /** A child that is gone or stopping serves no clients, whatever its manager reports. */
  async #checkChild(pid: number): Promise<void> {
    if (!(await isChildThere(pid)) || (await isChildStopping(pid)))
      this.#seen = { ...this.#seen, cache: 'stopped' }
  }
}
