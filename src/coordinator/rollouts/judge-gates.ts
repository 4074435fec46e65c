/**
 * Gates compare agents that have switched with limits, with the same agents before the switch, and with agents that have not
 * switched. Pure (docs/behaviour.md, Rollouts).
 */
import type { GateRule, GateVerdict } from '../../resources/rollout.js'
import { findNewest, isRatio, judgeRatio } from './judge-ratio.js'
import { blank, describeGate, inconclusive, over, type JudgedGate } from './judged-gate.js'
import { addUp, type Seconds } from './observed-seconds.js'

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
  /** The newest result of each probe, by the place of its gate in the policy; null: no result yet. */
  readonly probes: readonly (ProbeSeen | null)[]
}

export interface ProbeSeen {
  /** For how many seconds every probe has failed; 0: the last one succeeded. */
  readonly wrongSeconds: number
  /** What was wrong. */
  readonly reason: string | null
}

/** The latest response of a webhook. */
export interface WebhookAnswer {
  readonly verdict: GateVerdict
  readonly reason: string | null
}

interface Seen {
  readonly switched: readonly ObservedAgent[]
  /** The newest seconds of the agents that have not switched. */
  readonly control: readonly Seconds[]
  /** By the place of the gate in the policy; null: no response yet, or the gate asks no webhook. */
  readonly webhooks: readonly (WebhookAnswer | null)[]
}

/** Returns one row per gate for all agents, and one per agent on which it fails, at most `maxRows` per gate. In steps of a few ms. */
export function* judgeGates(
  gates: readonly GateRule[],
  { switched, control, webhooks }: Seen,
): Generator<void, readonly JudgedGate[], void> {
  const agents: DigestedAgent[] = []
  for (const [at, agent] of switched.entries()) {
    if (at % agentsPerStep === agentsPerStep - 1) yield
    const digest = { sinceSum: addUpOnce(agent.since), beforeSum: addUpOnce(agent.before) }
    if (agent.isThere) agents.push({ ...agent, ...digest })
  }
  const beside = {
    since: addUp(agents.map(({ sinceSum }) => sinceSum)),
    before: addUp(agents.map(({ beforeSum }) => beforeSum)),
    control: addUp(control),
  }
  const rows: JudgedGate[] = []
  for (const [at, gate] of gates.entries())
    rows.push(...(yield* judgeGate(gate, agents, { ...beside, at, webhook: webhooks[at] ?? null })))
  return rows
}

/** The same spans are judged repeatedly until the agent reports more. */
const sums = new WeakMap<readonly Seconds[], Seconds>()

function addUpOnce(spans: readonly Seconds[]): Seconds {
  const sum = sums.get(spans) ?? addUp(spans)
  sums.set(spans, sum)
  return sum
}

type DigestedAgent = ObservedAgent & { readonly sinceSum: Seconds; readonly beforeSum: Seconds }

/** An agent has up to a hundred spans. */
export const agentsPerStep = 50

/** Maximum number of agents listed for a gate. */
const maxRows = 20

interface Beside {
  /** Summed over all agents that have switched. */
  readonly since: Seconds
  readonly before: Seconds
  readonly control: Seconds
  /** The place of the gate in the policy. */
  readonly at: number
  readonly webhook: WebhookAnswer | null
}

function* judgeGate(
  gate: GateRule,
  there: readonly DigestedAgent[],
  beside: Beside,
): Generator<void, readonly JudgedGate[], void> {
  // A webhook judges the whole rollout, not single agents.
  if (gate.name === 'webhook') return [judgeWebhook(beside.webhook)]
  const failed: JudgedGate[] = []
  const newest: Seconds[] = []
  let unsure: JudgedGate | null = null
  for (const [at, agent] of there.entries()) {
    if (at % agentsPerStep === agentsPerStep - 1) yield
    if (isRatio(gate)) newest.push(findNewest(gate, agent.since, there.length))
    const judged = judgeOne(gate, agent, beside)
    const own = { ...judged, agent: { id: agent.agentId, name: agent.name } }
    if (own.verdict === 'fail' && failed.length < maxRows) failed.push(own)
    if (own.verdict === 'inconclusive') unsure ??= own
  }
  return [joinRows(judgeAll(gate, there, { ...beside, newest }), failed, unsure), ...failed]
}

function judgeOne(gate: GateRule, agent: DigestedAgent, { control, at }: Beside): JudgedGate {
  if (!isRatio(gate)) return judgeState(gate, [agent], at)
  const { sinceSum: since, beforeSum: before } = agent
  const newest = findNewest(gate, agent.since, 1)
  return judgeRatio(gate, { since, before, newest, agents: 1 }, control)
}

function judgeAll(
  gate: GateRule,
  there: readonly DigestedAgent[],
  { since, before, control, newest, at }: Beside & { readonly newest: readonly Seconds[] },
): JudgedGate {
  if (there.length === 0) return inconclusive(gate.name, 'no agent that has switched is running')
  if (!isRatio(gate)) return judgeState(gate, there, at)
  const seen = { since, before, newest: addUp(newest), agents: there.length }
  return judgeRatio(gate, seen, control)
}

/** A gate that is inconclusive on one agent does not pass for all. */
function joinRows(
  all: JudgedGate,
  failed: readonly JudgedGate[],
  unsure: JudgedGate | null,
): JudgedGate {
  if (all.verdict !== 'pass' || failed.length > 0 || unsure === null) return all
  const reason = `${unsure.agent?.name ?? ''}: ${unsure.reason ?? ''}`
  return { ...all, verdict: 'inconclusive', reason }
}

/** Judges a state of the agents, not a ratio. */
function judgeState(gate: GateRule, agents: readonly DigestedAgent[], at: number): JudgedGate {
  if (gate.name === 'probe') return judgeProbe(gate, agents, at)
  if (gate.name === 'backendsHealthy') return judgeHealthy(gate, agents)
  const observed = agents.reduce((sum, { sinceSum }) => sum + sinceSum.restarts, 0)
  return over(gate.name, { observed, limit: 0, isOver: observed > 0 })
}

function judgeWebhook(answer: WebhookAnswer | null): JudgedGate {
  return { ...blank('webhook'), ...(answer ?? { reason: 'no answer has arrived yet' }) }
}

function judgeHealthy({ name, min = 1 }: GateRule, agents: readonly ObservedAgent[]): JudgedGate {
  const counts = agents.map(({ healthyBackends }) => healthyBackends)
  const known = counts.filter((count) => count !== null)
  if (known.length === 0)
    return inconclusive(name, 'no agent has reported the health of its backends')
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
  if (wrong?.probe) return inconclusive(name, wrong.probe.reason ?? 'the probe failed')
  if (seen.some(({ probe }) => probe === null))
    return inconclusive(name, 'no result of a probe has arrived')
  return { ...blank(name), verdict: 'pass' }
}

/** The verdict of all gates together: one failed gate is enough. */
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
