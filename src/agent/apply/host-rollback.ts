/**
 * `cachefleetd rollback` on the host, with or without a coordinator: returns the cache to an earlier good state and locks the
 * agent there. The agent keeps healing that state, and obeys a coordinator again after an unlock.
 */
import type { Logger } from 'pino'
import type { Context } from '../../context.js'
import { describeServing, findEarlier, type GoodState } from './good-states.js'
import type { Reconciler } from './reconciler.js'
import { answerRequest, findRequest, type RollbackRequest } from './rollback-requests.js'
import type { SavedState } from './saved-state.js'
import { startLoop, type Loop } from '../../runtime/loop.js'

interface HostRollbackOptions {
  readonly stateDir: string
  readonly readOnly: boolean
  readonly state: SavedState
  readonly reconciler: Reconciler
  /** Reports changes to the coordinator. */
  readonly reportChanges: () => void
  readonly log: Logger
}

/** Short, because a user waits at a terminal. */
const pollPauseMs = 500

export class HostRollbacks {
  readonly #options: HostRollbackOptions
  #loop: Loop | null = null

  constructor(options: HostRollbackOptions) {
    this.#options = options
  }

  start(): void {
    const { log } = this.#options
    this.#loop = startLoop({
      log,
      trouble: 'a rollback on the host failed; trying on',
      everyMs: pollPauseMs,
      firstMs: 0,
      pass: ({ context }) => this.#poll(context),
    })
  }

  async stop(): Promise<void> {
    await this.#loop?.close()
  }

  async #poll(context: Context): Promise<void> {
    const { stateDir } = this.#options
    const request = await findRequest(stateDir)
    if (!request) return
    const outcome = await this.#rollBack(request, context)
    context.log.warn(outcome, 'rolled back on the host')
    await answerRequest(stateDir, { id: request.id, ...outcome })
  }

  async #rollBack(
    request: RollbackRequest,
    context: Context,
  ): Promise<{ readonly done: boolean; readonly message: string }> {
    const { state, reconciler, readOnly, reportChanges } = this.#options
    if (readOnly) return { done: false, message: 'this agent is read-only: it changes nothing' }
    await reconciler.settle()
    const missing = await this.#decide(request)
    if (missing !== null) return { done: false, message: missing }
    const { desired, rolledBackTo } = state.record
    if (desired === null || rolledBackTo === null)
      return { done: false, message: 'the agent was unlocked meanwhile' }
    reconciler.forget()
    reportChanges()
    const result = await reconciler.apply({ revision: 0, desired }, context)
    reportChanges()
    if (result.result === 'applied')
      return { done: true, message: `it serves ${describeServing(state.record)}; ${rolledBackTo}` }
    const [failure] = result.result === 'failed' ? result.failures : []
    const why = result.error ?? failure?.error ?? 'the cache gave no reason'
    return { done: false, message: `it ${rolledBackTo}, but the cache is not there yet: ${why}` }
  }

  /**
   * Saves everything in one write: no coordinator's desired state must come between, and a request that is found again after
   * a kill continues where it stopped. Returns the reason when there is no state to go back to, else null.
   */
  async #decide({ id, number }: RollbackRequest): Promise<string | null> {
    const { state } = this.#options
    if (state.record.rollbackId === id) return null
    const target = findTarget(state, number)
    const desired = target?.record.desired
    if (!target || !desired) return describeMissing(state, number)
    const reason = `was rolled back on its host to good state ${target.number} of ${new Date(target.at).toISOString()}`
    await state.change({
      lockedBecause: reason,
      rolledBackTo: reason,
      rollbackId: id,
      desired,
      // Not a coordinator's revision: none must be reported as held or effective.
      heldRevision: 0,
      goodRevision: 0,
    })
    return null
  }
}

function findTarget(state: SavedState, number: number | null): GoodState | undefined {
  if (number === null) return findEarlier(state.goodStates, state.record)
  return state.goodStates.find((good) => good.number === number)
}

function describeMissing({ goodStates }: SavedState, number: number | null): string {
  if (number === null) return 'no good state is kept here in which the cache served something else'
  const [first] = goodStates
  const kept = first ? `${first.number} to ${goodStates.at(-1)?.number ?? first.number}` : 'none'
  return `there is no good state ${number}; kept are ${kept}`
}
