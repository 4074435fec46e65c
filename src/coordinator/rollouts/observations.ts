/**
 * Observations by the agents of running rollouts, as this process received them. They are in memory only, because the agents keep
 * 15 minutes of them too, and send all of it to a coordinator that asks for the first time.
 */
import { randomUUID } from 'node:crypto'
import type { Bus } from '../bus/bus.js'
import { rolloutObservedSubject, rolloutObserveSubject } from '../bus/subjects.js'
import type { ObservedSpan, Probed, ProbeOrder } from '../../messages/observations.js'
import { rolloutStates } from '../../resources/rollout.js'
import type { RolloutRecord } from '../fleet/rollout-queries.js'
import { agentsPerStep, type ObservedAgent, type ProbeSeen } from './judge-gates.js'
import { addUp, type Seconds } from './observed-seconds.js'
import {
  countSecondsAfter,
  keepSpans,
  splitAtSwitch,
  takeNewest,
  type Span,
} from './observed-spans.js'

type Observed = Pick<ObservedAgent, 'since' | 'before' | 'probes'>

export interface Observations {
  /** From now on requests the observations of these rollouts, and of no others. */
  observe(rollouts: readonly RolloutRecord[]): void
  /** Returns the observations of an agent that has switched. */
  read(rollout: RolloutRecord, agentId: number): Observed
  /** Returns the newest seconds of an agent that has not switched; null: nothing was received in the last `controlSeconds`. */
  readControl(rollout: RolloutRecord, agentId: number): Seconds | null
  /** Returns how many seconds of the current bake its agents have observed. In steps of a few ms. */
  countBakedSeconds(rollout: RolloutRecord): Generator<void, number, void>
  close(): void
}

/** How long an order to observe is valid, and how often it is renewed: one lost message ends nothing. */
const observeForMs = 30_000
const renewEveryMs = 10_000
/** The agents of a large fleet report less often: about 200 agents per second. */
const perAgentMs = 5
const oftenMs = 1_000
const seldomMs = 5_000
/** How many seconds of agents that have not switched are compared. */
const controlSeconds = 60

interface Received {
  readonly spans: readonly Span[]
  /** When the spans were received, by the monotonic clock of this process. */
  readonly atMs: number
  /** Computed at the first check: a large fleet is checked more often than it reports. */
  split?: ReturnType<typeof splitAtSwitch> & { readonly program: string }
  control?: Seconds
}

interface Watched {
  askedAtMs: number
  readonly everyMs: number
  readonly agents: Map<number, Received>
  /** By agent: the newest result of each probe, in the order of the gates. */
  readonly probes: Map<number, readonly (ProbeSeen | null)[]>
}

export function createObservations(bus: Bus, now: () => number): Observations {
  const session = randomUUID()
  const watched = new Map<number, Watched>()
  const subscription = bus.subscribe(rolloutObservedSubject, (message) => {
    const of = message.session === session ? watched.get(message.group) : undefined
    if (!of) return
    const receivedAt = now()
    const known = message.isWhole ? [] : (of.agents.get(message.agentId)?.spans ?? [])
    const added = message.spans.map((span) => toSpan(span, receivedAt))
    const spans = keepSpans(known, added, of.everyMs / 1000)
    of.agents.set(message.agentId, { spans, atMs: performance.now() })
    of.probes.set(message.agentId, message.probes.map(toProbeSeen))
  })
  const split = ({ groupId, sources }: RolloutRecord, agentId: number) => {
    const program = sources.programName
    const received = watched.get(groupId)?.agents.get(agentId)
    if (!received) return { since: [], before: [] }
    if (received.split?.program !== program)
      received.split = { program, ...splitAtSwitch(received.spans, program) }
    return received.split
  }

  const readProbes = ({ groupId }: RolloutRecord, agentId: number) =>
    watched.get(groupId)?.probes.get(agentId) ?? []

  return {
    observe: (rollouts) => {
      const groups = new Set(rollouts.map(({ groupId }) => groupId))
      for (const group of watched.keys()) if (!groups.has(group)) watched.delete(group)
      for (const rollout of rollouts) if (rollout.state !== rolloutStates.RollingBack) ask(rollout)
    },
    read: (rollout, agentId) => {
      const { since, before } = split(rollout, agentId)
      // Probe results that arrived before any second of the new release belong to the old one.
      const probes = alignProbes(rollout, since.length > 0 ? readProbes(rollout, agentId) : [])
      return { since, before, probes }
    },
    readControl: ({ groupId }, agentId) => {
      const received = watched.get(groupId)?.agents.get(agentId)
      if (!received || performance.now() - received.atMs >= controlSeconds * 1000) return null
      return (received.control ??= addUp(takeNewest(received.spans, controlSeconds)))
    },
    *countBakedSeconds(rollout) {
      const wave = rollout.waves[rollout.wave - 1]
      const from = wave?.switchedAt ?? null
      if (wave === undefined || from === null) return 0
      // The agent that switched last counts.
      let least = Number.POSITIVE_INFINITY
      for (const [at, { id }] of wave.agents.entries()) {
        if (at % agentsPerStep === agentsPerStep - 1) yield
        const { since } = split(rollout, id)
        if (since.length > 0) least = Math.min(least, countSecondsAfter(since, from))
      }
      return Number.isFinite(least) ? least : 0
    },
    close: () => {
      subscription.close()
      watched.clear()
    },
  }

  function ask({ groupId: group, waves, policy }: RolloutRecord): void {
    const nowMs = performance.now()
    const known = watched.get(group)
    if (known && nowMs - known.askedAtMs < renewEveryMs) return
    const { agents = new Map<number, Received>(), probes = new Map<number, []>() } = known ?? {}
    const agentIds = waves.flatMap(({ agents }) => agents.map(({ id }) => id))
    const everyMs = Math.min(Math.max(agentIds.length * perAgentMs, oftenMs), seldomMs)
    watched.set(group, { askedAtMs: nowMs, everyMs, agents, probes })
    const order = { group, session, everyMs, forMs: observeForMs, probes: listProbes(policy) }
    bus.publish(rolloutObserveSubject, { agentIds, order })
  }
}

function toSpan({ ageMs, figures, ...span }: ObservedSpan, receivedAt: number): Span {
  const [requests = 0, errors = 0, hits = 0, misses = 0, ...firstByte] = figures ?? []
  return {
    ...span,
    at: receivedAt - ageMs,
    figures: figures === null ? null : { requests, errors, hits, misses, firstByte },
  }
}

function listProbes({ gates }: RolloutRecord['policy']): ProbeOrder[] {
  return gates.flatMap(({ name, path = '/', host = '', status = 200, bodyContains, every = 5 }) =>
    name === 'probe'
      ? [{ path, host, status, bodyContains: bodyContains ?? null, everyMs: every * 1000 }]
      : [],
  )
}

/** Returns the results by the place of each gate in the policy. */
function alignProbes(
  { policy }: RolloutRecord,
  seen: readonly (ProbeSeen | null)[],
): readonly (ProbeSeen | null)[] {
  let next = 0
  return policy.gates.map(({ name }) => (name === 'probe' ? (seen[next++] ?? null) : null))
}

function toProbeSeen(probed: Probed | null): ProbeSeen | null {
  return probed && { wrongSeconds: probed.wrongMs / 1000, reason: probed.reason }
}
