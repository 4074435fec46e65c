/**
 * Carries out bans and purges of the invalidation log, one entry after the other in the order received. A refusal is final. A
 * fault (no connection, a child that died) ends the batch: its entry and all later ones are dropped, and the coordinator sends
 * them again.
 *
 * Only the queue is kept in memory. The coordinator's store records this agent's position and is at most one window behind.
 */
import { ban, writeBlanksAsEscapes, type BanOperator } from '../../../protocol/commands/ban.js'
import type { Command } from '../../../protocol/command.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import type { Context } from '../../context.js'
import { narrowToGroup, type BanTerm } from '../../vcl/ban-expression.js'
import type { InvalidationResult } from '../../messages/agent-to-coordinator.js'
import type {
  BanOrder,
  Invalidate,
  InvalidationOrder,
} from '../../messages/coordinator-to-agent.js'
import { findEmptySince } from '../engine/child-age.js'
import type { CounterReader } from '../counters/counter-reader.js'
import { errorText, type Engine } from '../engine/engine.js'
import { sendPurges, type PurgeTarget } from './purge.js'

interface InvalidatorParts {
  readonly engine: Engine
  readonly http: PurgeTarget
  readonly purgeCounter: CounterReader
  /** Returns null when this agent may change its cache. */
  readonly findObstacle: () => string | null
  /** Returns false when there is no link. */
  readonly report: (outcome: BatchOutcome, traceId: string) => boolean
  readonly now: () => number
}

interface BatchOutcome {
  readonly results: readonly InvalidationResult[]
  readonly trouble: string | null
}

interface Queued {
  readonly order: InvalidationOrder
  readonly createdAt: number
  readonly context: Context
}

/** Limits of a batch, which ends in one report; two batches fill the window of 64. */
const entriesPerBatch = 32
const bansPerBatch = 256
/** For younger entries the agent does not ask for the start of the cache's child. */
const questionAgeMs = 1000
/** For a result's error, which the coordinator stores in one row for all agents. */
const wordsLimit = 300

export class Invalidator {
  readonly #parts: InvalidatorParts
  #queue: Queued[] = []
  /** Position of the last queued entry; entries that do not follow it were sent before a fault was known. */
  #tail = 0
  #isBusy = false

  constructor(parts: InvalidatorParts) {
    this.#parts = parts
  }

  /** Never throws. */
  take({ after, isRestart, entries }: Invalidate, context: Context): void {
    if (isRestart) this.#queue = []
    else if (after !== this.#tail) return
    const now = this.#parts.now()
    for (const order of entries) this.#queue.push({ order, createdAt: now - order.ageMs, context })
    this.#tail = entries.at(-1)?.position ?? after
    if (!this.#isBusy) void this.#work() // catches all
  }

  async #work(): Promise<void> {
    this.#isBusy = true
    while (this.#queue.length > 0) {
      const batch = cutBatch(this.#queue)
      const [first] = batch
      if (!first) break
      const outcome = await this.#runBatch(batch).catch((error: unknown) => {
        if (!(error instanceof ManagementPortError))
          first.context.log.error({ err: error }, 'an invalidation broke')
        return { results: [], trouble: errorText(error) }
      })
      if (outcome.trouble !== null) this.#drop()
      const { results, trouble } = outcome
      if (!this.#parts.report({ results, trouble: cut(trouble) }, first.context.traceId))
        this.#drop()
    }
    this.#isBusy = false
  }

  #drop(): void {
    this.#queue = []
    this.#tail = -1
  }

  async #runBatch(batch: readonly Queued[]): Promise<BatchOutcome> {
    const obstacle = this.#parts.findObstacle()
    if (obstacle !== null) return { results: [], trouble: obstacle }
    const emptySince = await this.#findEmptySince(batch)
    const isNeeded = ({ createdAt }: Queued): boolean =>
      emptySince === null || createdAt >= emptySince
    const [first] = batch
    if (first?.order.purge) return this.#purge(first, isNeeded(first))
    return this.#ban(batch, isNeeded)
  }

  async #findEmptySince(batch: readonly Queued[]): Promise<number | null> {
    const { engine, now } = this.#parts
    const [first] = batch
    const oldest = Math.min(...batch.map(({ createdAt }) => createdAt))
    if (!first || now() - oldest < questionAgeMs) return null
    return findEmptySince(engine, first.context, now)
  }

  async #ban(batch: readonly Queued[], isNeeded: (one: Queued) => boolean): Promise<BatchOutcome> {
    const planned = batch.map((one) => toCommands(isNeeded(one) ? one.order.ban : null))
    const context = batch[0]?.context
    if (!context) return { results: [], trouble: null }
    const outcomes = await this.#parts.engine.runAll(
      context,
      planned.flatMap(({ commands }) => commands),
    )
    const results: InvalidationResult[] = []
    let next = 0
    for (const [index, { order }] of batch.entries()) {
      const { commands, refusals } = planned[index] ?? nothingPlanned
      const errors = outcomes
        .slice(next, (next += commands.length))
        .flatMap((one) => (one.ok ? [] : [one.error]))
      const fault = errors.find((error) => !isFinal(error))
      if (fault) return { results, trouble: fault.message }
      // 201: the answer was truncated, but the command ran.
      const final = errors.filter(({ status }) => status !== 201)
      results.push(toResult(order.position, [...refusals, ...final]))
    }
    return { results, trouble: null }
  }

  async #purge({ order }: Queued, isNeeded: boolean): Promise<BatchOutcome> {
    const { position, purge } = order
    if (!isNeeded || !purge || purge.requests.length === 0)
      return { results: [{ position, result: 'done', error: null }], trouble: null }
    const { http, purgeCounter } = this.#parts
    const sent = await sendPurges(http, purge, purgeCounter)
    if (sent.trouble !== null) return { results: [], trouble: sent.trouble }
    const result = sent.isDone ? 'done' : 'failed'
    return { results: [{ position, result, error: cut(sent.error) }], trouble: null }
  }
}

/** Takes the front of the queue: a single purge, or consecutive bans. */
function cutBatch(queue: Queued[]): Queued[] {
  const isPurge = ({ order }: Queued): boolean => order.purge !== null
  let length = 1
  let bans = countBans(queue[0])
  for (const next of queue.slice(1, entriesPerBatch)) {
    const [first] = queue
    bans += countBans(next)
    if (!first || isPurge(first) || isPurge(next) || bans > bansPerBatch) break
    length += 1
  }
  return queue.splice(0, length)
}

function countBans(queued: Queued | undefined): number {
  const ban = queued?.order.ban
  return ban ? ban.expressions.length * (ban.groups?.length ?? 1) : 0
}

interface Planned {
  readonly commands: readonly Command<void>[]
  /** For commands that cannot be sent safely. */
  readonly refusals: readonly ManagementPortError[]
}

const nothingPlanned: Planned = { commands: [], refusals: [] }

function toCommands(order: BanOrder | null): Planned {
  const commands: Command<void>[] = []
  const refusals: ManagementPortError[] = []
  const groups = order?.groups ?? null
  for (const expression of order?.expressions ?? [])
    try {
      const terms = expression.map(toTerm)
      if (groups === null) commands.push(ban(terms))
      else for (const group of groups) commands.push(ban(narrowToGroup(terms, group)))
    } catch (error) {
      if (!(error instanceof ManagementPortError)) throw error
      refusals.push(error)
    }
  return { commands, refusals }
}

function toTerm([field, operator, value]: readonly [string, string, string]): BanTerm {
  const isPattern = operator === '~' || operator === '!~'
  // The cache itself refuses an invalid operator, with its own message.
  return {
    field,
    operator: operator as BanOperator,
    value: isPattern ? writeBlanksAsEscapes(value) : value,
  }
}

/** True for the cache's own answer, false for that of a manager whose child is gone (mgt_cli.c: 101, 400). */
function isFinal({ kind, status, text = '' }: ManagementPortError): boolean {
  if (kind === 'refused') return true
  return kind === 'rejected' && status !== 400 && !/child not running/.test(text)
}

function toResult(position: number, errors: readonly ManagementPortError[]): InvalidationResult {
  if (errors.length === 0) return { position, result: 'done', error: null }
  const words = [...new Set(errors.map(({ message }) => message))].join('; ')
  return { position, result: 'failed', error: cut(words) }
}

function cut(text: string): string
function cut(text: string | null): string | null
function cut(text: string | null): string | null {
  return text?.slice(0, wordsLimit) ?? null
}
