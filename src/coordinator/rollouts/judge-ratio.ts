/** Gates on ratios and times: the newest seconds since the switch against a limit, the same agents before, and waiting agents. Pure. */
import { findPercentile } from '../../traffic/figures.js'
import type { GateRule } from '../../resources/rollout.js'
import { inconclusive, over, type JudgedGate } from './judged-gate.js'
import { addNewest, type Seconds } from './observed-seconds.js'

/** Summed over the agents that have switched. */
interface SeenSeconds {
  readonly since: Seconds
  readonly before: Seconds
  /** The newest seconds since the switch, as many as the gate needs. */
  readonly newest: Seconds
  readonly agents: number
}

type RatioGate = GateRule & { readonly name: keyof typeof measures }

export function isRatio(gate: GateRule): gate is RatioGate {
  return Object.hasOwn(measures, gate.name)
}

/** Returns as many of the newest seconds of one agent as the gate needs when it judges `agents` agents together. */
export function findNewest(gate: RatioGate, since: readonly Seconds[], agents: number): Seconds {
  const { name, minRequests = 0, for: forSeconds = 0 } = gate
  const enough = Math.max(1, minRequests) / agents
  return addNewest(since, forSeconds, (seconds) => measures[name].count(seconds, gate) >= enough)
}

/** Judges the ratio in the newest seconds since the switch. */
export function judgeRatio(gate: RatioGate, seen: SeenSeconds, control: Seconds): JudgedGate {
  const { name, minRequests = 0 } = gate
  const { since, before, newest, agents } = seen
  const measure = measures[name]
  if (since.figures === null && measure.needsLog)
    return inconclusive(name, 'the log of the cache is not read')
  const count = measure.count(since, gate)
  if (count < minRequests)
    return inconclusive(name, `${Math.floor(count)} of ${minRequests} ${measure.things}`)
  const observed = measure.of(newest, gate)
  if (observed === null) return inconclusive(name, `no ${measure.things}`)
  const baseline = measure.of(before, gate)
  const beside = measure.of(control, gate)
  const compared = { baseline, control: beside, observed }
  const limit = findLimit(gate, compared, measure.floor)
  if (limit === null)
    return {
      ...inconclusive(name, 'there is nothing to compare it with'),
      ...compared,
    }
  return { ...judgeLimit(gate, { newest, observed, limit, agents }), ...compared }
}

interface Measured {
  readonly newest: Seconds
  readonly observed: number
  readonly limit: number
  readonly agents: number
}

function judgeLimit(gate: RatioGate, { newest, observed, limit, agents }: Measured): JudgedGate {
  const { name, for: forSeconds = 0 } = gate
  const measure = measures[name]
  const isOver = name === 'hitRatio' ? observed < limit : observed > limit
  const isLong = newest.seconds >= forSeconds * agents * 0.5
  const whole = measure.whole(newest)
  if (isOver && !(isLong && isBeyondChance(observed, limit, whole))) {
    const reason = isLong
      ? `beyond its limit by no more than chance, in ${Math.round(whole ?? 0)} ${measure.things}`
      : 'beyond its limit, but not for long enough yet'
    return { ...inconclusive(name, reason), limit }
  }
  return over(name, { observed, limit, isOver })
}

interface Compared {
  readonly baseline: number | null
  readonly control: number | null
}

/** If both baseline and control exist, both must be exceeded: the milder one sets the limit. Null: there is no limit. */
function findLimit(gate: GateRule, { baseline, control }: Compared, floor: number): number | null {
  const others = [baseline, control].filter((one) => one !== null)
  if (gate.drop !== undefined)
    return others.length === 0 ? null : Math.max(0, Math.min(...others) - gate.drop)
  const fixed = gate.max ?? gate.maxMs
  if (fixed !== undefined) return fixed
  if (others.length === 0) return null
  return Math.max(floor, Math.max(...others) * (gate.factor ?? 1))
}

interface Measure {
  readonly needsLog: boolean
  readonly things: string
  readonly count: (seconds: Seconds, gate: GateRule) => number
  readonly of: (seconds: Seconds, gate: GateRule) => number | null
  /** A limit set by a factor is never below this: a share, or milliseconds. */
  readonly floor: number
  /** The count that it is a share of; null: it is not a share. */
  readonly whole: (seconds: Seconds) => number | null
}

/** Of many agents, one has a few more errors than the others by chance alone. */
const deviations = 3

function isBeyondChance(observed: number, limit: number, whole: number | null): boolean {
  if (whole === null) return true
  const deviation = Math.sqrt((limit * (1 - limit)) / whole)
  return Math.abs(observed - limit) > deviations * deviation
}

const share = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null)
const requests = ({ figures }: Seconds): number => figures?.requests ?? 0

const measures: Readonly<Record<'errors' | 'hitRatio' | 'backendFailures' | 'firstByte', Measure>> =
  {
    errors: {
      needsLog: true,
      things: 'requests',
      count: requests,
      of: ({ figures }) => figures && share(figures.errors, figures.requests),
      floor: 0.001,
      whole: requests,
    },
    hitRatio: {
      needsLog: true,
      things: 'requests',
      count: requests,
      of: ({ figures }) => figures && share(figures.hits, figures.hits + figures.misses),
      floor: 0,
      whole: ({ figures }) => (figures ? figures.hits + figures.misses : 0),
    },
    backendFailures: {
      needsLog: false,
      things: 'backend requests',
      // If no backend request failed, few of them are as conclusive as many, so requests of clients count too.
      count: (seconds) =>
        seconds.backendFailures === 0
          ? Math.max(requests(seconds), seconds.backendRequests)
          : seconds.backendRequests,
      of: ({ seconds, backendRequests, backendFailures }) =>
        seconds === 0 ? null : (share(backendFailures, backendRequests) ?? 0),
      floor: 0.001,
      whole: ({ backendRequests }) => backendRequests,
    },
    firstByte: {
      needsLog: true,
      things: 'requests',
      count: requests,
      of: ({ figures }, { percentile = 95 }) =>
        figures && findPercentile(figures.firstByte, percentile / 100),
      floor: 5,
      whole: () => null,
    },
  }
