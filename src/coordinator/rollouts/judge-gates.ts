/**
 * Gates: what is seen on agents that have switched, against limits, against the same agents before and against those that have
 * not switched. Pure (docs/behaviour.md, Rollouts).
 */
import type { GateRecord } from '../fleet/rollout-queries.js'
import type { GateName, GateRule, GateVerdict } from '../../resources/rollout.js'
import { findPercentile } from '../../traffic/figures.js'
import { addUp, takeNewest, type Seconds } from './observed-seconds.js'

export interface ObservedAgent {
  readonly agentId: number
  readonly name: string
  readonly isThere: boolean
  /** Since its switch, the oldest first. */
  readonly since: readonly Seconds[]
  /** Before its switch. */
  readonly before: readonly Seconds[]
  /** Healthy backends of the VCL that it serves; null: not known. */
  readonly healthyBackends: number | null
  /** The newest of each probe of the policy, by its place there; null: none has come. */
  readonly probes: readonly (ProbeSeen | null)[]
}

export interface ProbeSeen {
  /** For so many seconds it was wrong, again and again; 0: it was right. */
  readonly wrongSeconds: number
  /** What was wrong. */
  readonly reason: string | null
}

/** `agent` null: all that have switched. */
export type JudgedGate = Omit<GateRecord, 'at'>

/** What a webhook answered last. */
export interface WebhookAnswer {
  readonly verdict: GateVerdict
  readonly reason: string | null
}

interface Seen {
  readonly switched: readonly ObservedAgent[]
  /** Of the agents that have not switched, newest. */
  readonly control: readonly Seconds[]
  /** By the place of the gate in the policy; null: none has come, or the gate asks none. */
  readonly webhooks: readonly (WebhookAnswer | null)[]
}

/** One row a gate for all agents, and one for each agent on which it fails, at most `rowsMost` a gate. */
export function judgeGates(gates: readonly GateRule[], seen: Seen): readonly JudgedGate[] {
  const control = addUp(seen.control)
  return gates.flatMap((gate, at) =>
    judgeGate(gate, seen.switched, { control, at, webhook: seen.webhooks[at] ?? null }),
  )
}

/** Agents that are told of a gate. */
const rowsMost = 20

interface Beside {
  readonly control: Seconds
  /** Its place in the policy. */
  readonly at: number
  readonly webhook: WebhookAnswer | null
}

function judgeGate(
  gate: GateRule,
  switched: readonly ObservedAgent[],
  beside: Beside,
): readonly JudgedGate[] {
  // It is asked about the whole rollout.
  if (gate.name === 'webhook') return [judgeWebhook(beside.webhook)]
  const there = switched.filter(({ isThere }) => isThere)
  const each = there.map((agent) => ({
    ...judgeOne(gate, [agent], beside),
    agent: { id: agent.agentId, name: agent.name },
  }))
  const all = judgeOne(gate, there, beside)
  const failed = each.filter(({ verdict }) => verdict === 'fail')
  const inconclusive = each.find(({ verdict }) => verdict === 'inconclusive')
  const whole: JudgedGate =
    all.verdict === 'pass' && failed.length === 0 && inconclusive
      ? {
          ...all,
          verdict: 'inconclusive',
          reason: `${inconclusive.agent.name}: ${inconclusive.reason ?? ''}`,
        }
      : all
  return [whole, ...failed.slice(0, rowsMost)]
}

function judgeOne(
  gate: GateRule,
  agents: readonly ObservedAgent[],
  { control, at, webhook }: Beside,
): JudgedGate {
  if (agents.length === 0) return inconclusive(gate.name, 'no agent that has switched is there')
  switch (gate.name) {
    case 'restarts': {
      const observed = agents.reduce((sum, { since }) => sum + addUp(since).restarts, 0)
      return over(gate.name, { observed, limit: 0, isOver: observed > 0 })
    }
    case 'backendsHealthy':
      return judgeHealthy(gate, agents)
    case 'probe':
      return judgeProbe(gate, agents, at)
    case 'webhook':
      return judgeWebhook(webhook)
    case 'errors':
    case 'hitRatio':
    case 'backendFailures':
    case 'firstByte':
      return judgeRatio({ ...gate, name: gate.name }, agents, control)
  }
}

function judgeWebhook(answer: WebhookAnswer | null): JudgedGate {
  return { ...blank('webhook'), ...(answer ?? { reason: 'no answer has come yet' }) }
}

function judgeHealthy({ name, min = 1 }: GateRule, agents: readonly ObservedAgent[]): JudgedGate {
  const counts = agents.map(({ healthyBackends }) => healthyBackends)
  const known = counts.filter((count) => count !== null)
  if (known.length === 0) return inconclusive(name, 'nobody told how its backends are')
  const observed = Math.min(...known)
  return over(name, { observed, limit: min, isOver: observed < min })
}

function judgeProbe(gate: GateRule, agents: readonly ObservedAgent[], at: number): JudgedGate {
  const { name, for: forSeconds = 0 } = gate
  const seen = agents.map((agent) => ({ agent, probe: agent.probes[at] ?? null }))
  const wrong = seen.find(({ probe }) => probe !== null && probe.wrongSeconds > 0)
  const failed = seen.find(
    ({ probe }) => probe !== null && probe.wrongSeconds >= forSeconds && probe.reason !== null,
  )
  if (failed?.probe)
    return {
      ...blank(name),
      verdict: 'fail',
      reason: `${failed.agent.name}: ${failed.probe.reason ?? ''}`,
    }
  if (wrong?.probe) return inconclusive(name, wrong.probe.reason ?? 'it was wrong')
  if (seen.some(({ probe }) => probe === null)) return inconclusive(name, 'no probe has come')
  return { ...blank(name), verdict: 'pass' }
}

type RatioGate = GateRule & { readonly name: keyof typeof measures }

/** Ratios of the seconds since the switch, over the newest of them. */
function judgeRatio(
  gate: RatioGate,
  agents: readonly ObservedAgent[],
  control: Seconds,
): JudgedGate {
  const { name, minRequests = 0, for: forSeconds = 0 } = gate
  const measure = measures[name]
  const since = addUp(agents.flatMap((agent) => agent.since))
  if (since.figures === null && measure.needsLog)
    return inconclusive(name, 'the log of the cache is not read there')
  const count = measure.count(since, gate)
  if (count < minRequests)
    return inconclusive(name, `${Math.floor(count)} of ${minRequests} ${measure.things}`)
  const enough = Math.max(1, minRequests)
  const newest = addUp(
    agents.flatMap((agent) =>
      takeNewest(
        agent.since,
        forSeconds,
        (seconds) => measure.count(seconds, gate) >= enough / agents.length,
      ),
    ),
  )
  const observed = measure.of(newest, gate)
  if (observed === null) return inconclusive(name, `no ${measure.things}`)
  const baseline = measure.of(addUp(agents.flatMap((agent) => agent.before)), gate)
  const beside = measure.of(control, gate)
  const compared = { baseline, control: beside, observed }
  const limit = findLimit(gate, compared, measure.floor)
  if (limit === null)
    return {
      ...inconclusive(name, 'there is nothing to compare it with'),
      ...compared,
    }
  return { ...judgeLimit(gate, { newest, observed, limit, agents: agents.length }), ...compared }
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
      ? `out of its limit by no more than chance, in ${Math.round(whole ?? 0)} ${measure.things}`
      : 'out of its limit, not yet for long enough'
    return { ...inconclusive(name, reason), limit }
  }
  return over(name, { observed, limit, isOver })
}

interface Compared {
  readonly baseline: number | null
  readonly control: number | null
}

/** Broken only where both that there are are exceeded: the milder one counts. Null: there is none. */
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
  /** Factors break no limit below it: a share, or milliseconds. */
  readonly floor: number
  /** What it is a share of; null: it is none. */
  readonly whole: (seconds: Seconds) => number | null
}

/** Of many agents one has some errors more than others by chance alone. */
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
      // Where nothing fails, few backend requests say as much as many.
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

function blank(name: GateName): JudgedGate {
  const nothing = { baseline: null, control: null, observed: null, limit: null, reason: null }
  return { name, agent: null, ...nothing, verdict: 'inconclusive' }
}

function inconclusive(name: GateName, reason: string): JudgedGate {
  return { ...blank(name), reason }
}

function over(
  name: GateName,
  {
    observed,
    limit,
    isOver,
  }: { readonly observed: number; readonly limit: number; readonly isOver: boolean },
): JudgedGate {
  return { ...blank(name), observed, limit, verdict: isOver ? 'fail' : 'pass' }
}

/** Of all gates together: one that fails is enough. */
export function judgeTogether(gates: readonly JudgedGate[]): {
  readonly verdict: GateVerdict
  readonly why: string | null
} {
  const worst =
    gates.find(({ verdict }) => verdict === 'fail') ??
    gates.find(({ verdict }) => verdict === 'inconclusive')
  if (!worst) return { verdict: 'pass', why: null }
  return { verdict: worst.verdict, why: describeGate(worst) }
}

/** `errors on edge-1: 0.053, limit 0.01`. */
export function describeGate({ name, agent, observed, limit, reason }: JudgedGate): string {
  const where = `${name} on ${agent?.name ?? 'all'}`
  if (reason !== null || observed === null) return `${where}: ${reason ?? 'not known'}`
  return `${where}: ${round(observed)}${limit === null ? '' : `, limit ${round(limit)}`}`
}

function round(value: number): string {
  return String(Number(value.toPrecision(3)))
}
