/**
 * Observations of the groups that this cache serves: time spans with the counts of each, kept for 15 minutes, at the interval
 * of the samples, and every second while a coordinator rolls a group out here (docs/behaviour.md, Rollouts).
 */
import type { Logger } from 'pino'
import { newTraceId } from '../../context.js'
import type { Observed, ObservedSpan, ObserveOrder } from '../../messages/observations.js'
import { startLoop, type Loop } from '../../runtime/loop.js'
import { firstByteSeries } from '../../traffic/figures.js'
import type { DesiredEngine } from '../../vcl/desired-engine.js'
import { countSince, type CounterReading } from '../counters/counter-rates.js'
import type { CounterReader } from '../counters/counter-reader.js'
import type { SampledFigures } from '../counters/sampler.js'
import type { Unsent } from '../link/coordinator-link.js'
import { Probes, type ProbeTarget } from './probes.js'
import { listServedPrograms } from './served-programs.js'

interface GroupObserverOptions {
  readonly reader: CounterReader
  readonly figures: Pick<SampledFigures, 'observe'>
  /** The current desired state of the cache; null: nothing managed. */
  readonly readDesired: () => DesiredEngine | null
  readonly send: (observed: Unsent<Observed>) => boolean
  /** Where the cache serves its clients. */
  readonly http: ProbeTarget
  readonly log: Logger
}

const keptMs = 15 * 60_000
/** One span per second: as many of a group as one report may contain. */
const maxSpans = 900
const readEveryMs = 1_000

interface Span extends Omit<ObservedSpan, 'ageMs'> {
  readonly endMs: number
}

interface Asked {
  readonly order: ObserveOrder
  readonly probes: Probes
  untilMs: number
  sentAtMs: number
  /** End of the newest span that was reported. */
  sentUntilMs: number
}

const nothingSeen = { seconds: 0, figures: null, backendRequests: 0, backendFailures: 0 } as const

const figureNames = [...['requests', 'status_5xx', 'hits', 'misses'], ...firstByteSeries] as const

export class GroupObserver {
  readonly #options: GroupObserverOptions
  readonly #spans = new Map<number, Span[]>()
  /** By group; a coordinator's new order replaces an earlier one. */
  readonly #asked = new Map<number, Asked>()
  #before: CounterReading | null = null
  #programs: ReadonlyMap<number, string> = new Map()
  #loop: Loop | null = null

  constructor(options: GroupObserverOptions) {
    this.#options = options
  }

  take(order: ObserveOrder): void {
    const nowMs = performance.now()
    const known = this.#asked.get(order.group)
    const isSame = known?.order.session === order.session
    const probes = known?.probes ?? new Probes(this.#options.http)
    probes.take(order.probes)
    this.#asked.set(order.group, {
      order,
      probes,
      untilMs: nowMs + order.forMs,
      sentAtMs: isSame ? known.sentAtMs : Number.NEGATIVE_INFINITY,
      sentUntilMs: isSame ? known.sentUntilMs : Number.NEGATIVE_INFINITY,
    })
    this.#loop ??= startLoop({
      log: this.#options.log,
      trouble: 'what a rollout is judged by cannot be read',
      everyMs: readEveryMs,
      firstMs: 0,
      pass: ({ nextIn }) => this.#check(nextIn),
    })
  }

  /** Takes a reading of the counters, from any source. */
  note(now: CounterReading): void {
    const before = this.#before
    this.#before = now
    const programs = listServedPrograms(this.#options.readDesired())
    const earlier = this.#programs
    this.#programs = programs
    const counts = this.#options.figures.observe(now)
    for (const group of this.#spans.keys()) if (!programs.has(group)) this.#spans.delete(group)
    for (const [group, { probes }] of this.#asked)
      if (earlier.get(group) !== programs.get(group)) probes.forget()
    if (before === null || now.atMs <= before.atMs) return
    const restarts = before.lives.child === now.lives.child ? 0 : 1
    for (const [group, program] of programs) {
      const common = { program, endMs: now.atMs, restarts }
      if (earlier.get(group) === program)
        this.#keep(group, {
          ...common,
          seconds: (now.atMs - before.atMs) / 1000,
          figures: readFigures(counts, group),
          ...countBackends(before, now, program),
        })
      // In a span with a switch the counts cannot be assigned to a VCL; only the child's death is kept.
      else if (restarts > 0) this.#keep(group, { ...common, ...nothingSeen })
    }
  }

  #keep(group: number, span: Span): void {
    const spans = this.#spans.get(group) ?? []
    this.#spans.set(group, spans)
    spans.push(span)
    while (spans.length > maxSpans || (spans[0]?.endMs ?? Infinity) < span.endMs - keptMs)
      spans.shift()
  }

  async stop(): Promise<void> {
    await this.#loop?.close()
  }

  async #check(nextIn: (waitMs: number | null) => void): Promise<void> {
    const reading = await this.#options.reader.read()
    if (reading !== null) this.note(reading)
    const nowMs = performance.now()
    for (const [group, asked] of this.#asked)
      if (asked.untilMs <= nowMs) this.#asked.delete(group)
      else asked.probes.sendDue(nowMs)
    for (const asked of this.#asked.values())
      if (nowMs - asked.sentAtMs >= asked.order.everyMs * 0.9) this.#report(asked, nowMs)
    nextIn(this.#asked.size > 0 ? readEveryMs : null)
    if (this.#asked.size > 0) return
    void this.#loop?.close()
    this.#loop = null
  }

  #report(asked: Asked, nowMs: number): void {
    const { probes, order } = asked
    const { group, session } = order
    const spans = (this.#spans.get(group) ?? []).filter(({ endMs }) => endMs > asked.sentUntilMs)
    const isWhole = asked.sentUntilMs === Number.NEGATIVE_INFINITY
    asked.sentAtMs = nowMs
    const isSent = this.#options.send({
      kind: 'observed',
      traceId: newTraceId(),
      group,
      session,
      isWhole,
      probes: [...probes.seen],
      spans: spans.map(({ endMs, ...span }) => ({
        ...span,
        ageMs: Math.max(0, Math.round(nowMs - endMs)),
      })),
    })
    if (isSent) asked.sentUntilMs = spans.at(-1)?.endMs ?? Math.max(asked.sentUntilMs, 0)
  }
}

/** Null if the log was not read; a group without requests has 0 for each figure. */
function readFigures(
  counts: ReadonlyMap<string, number> | null,
  group: number,
): readonly number[] | null {
  if (counts === null) return null
  return figureNames.map((name) => counts.get(`GROUP.${group}.${name}`) ?? 0)
}

/** Counts the VCL's own backends; a simulated cache has one set for all. */
function countBackends(before: CounterReading, now: CounterReading, program: string) {
  const counts: Record<BackendCount, number> = { made: 0, failed: 0, why: 0, untried: 0 }
  for (const name of now.values.keys()) {
    if (!name.startsWith('VBE.')) continue
    if (!name.startsWith(`VBE.${program}.`) && name.split('.').length > 3) continue
    const kind = findKind(name.slice(name.lastIndexOf('.') + 1))
    if (kind !== null) counts[kind] += Number(countSince(before, now, name) ?? 0n)
  }
  // For a failed connection some releases count the failure, others its reason.
  const failed = Math.max(counts.failed, counts.why) + counts.untried
  return { backendRequests: counts.made + failed, backendFailures: failed }
}

type BackendCount = 'made' | 'failed' | 'why' | 'untried'

function findKind(field: string): BackendCount | null {
  if (field === 'req') return 'made'
  if (field === 'fail') return 'failed'
  if (field.startsWith('fail_')) return 'why'
  return field === 'unhealthy' || field === 'helddown' || field === 'busy' ? 'untried' : null
}
