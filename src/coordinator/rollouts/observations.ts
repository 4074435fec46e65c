/**
 * What agents of running rollouts observe, as this process has heard it: in memory only, since the agents keep 15 minutes of it
 * too, and tell all of that to whoever asks anew.
 */
import { randomUUID } from 'node:crypto'
import type { Bus } from '../bus/bus.js'
import { rolloutObservedSubject, rolloutObserveSubject } from '../bus/subjects.js'
import type { ObservedSpan, Probed, ProbeOrder } from '../../messages/observations.js'
import { rolloutStates } from '../../resources/rollout.js'
import type { RolloutRecord } from '../fleet/rollout-queries.js'
import type { ObservedAgent, ProbeSeen } from './judge-gates.js'
import type { Seconds } from './observed-seconds.js'

type Observed = Pick<ObservedAgent, 'since' | 'before' | 'probes'>

export interface Observations {
  /** From now on what the agents of these see is wanted, and of no others. */
  observe(rollouts: readonly RolloutRecord[]): void
  /** Of an agent that has switched. */
  read(rollout: RolloutRecord, agentId: number): Observed
  /** The newest of an agent that has not switched. */
  readControl(rollout: RolloutRecord, agentId: number): readonly Seconds[]
  /** How much of the present bake its agents have observed. */
  bakedSeconds(rollout: RolloutRecord): number
  close(): void
}

/** What an agent is told, and how often again: one lost message ends nothing. */
const observeForMs = 30_000
const renewEveryMs = 10_000
/** A large fleet tells it less often: some 200 agents a second. */
const perAgentMs = 5
const oftenMs = 1_000
const seldomMs = 5_000
/** Of an agent; older ones are what the agent itself keeps. */
const spansKept = 300
const controlMs = 60_000
const baselineMs = 10 * 60_000

interface Span extends Seconds {
  readonly program: string
  /** When it ended, by this process. */
  readonly at: number
}

interface Watched {
  askedAtMs: number
  readonly agents: Map<number, Span[]>
  /** By agent, the newest of each, in the order of the gates. */
  readonly probes: Map<number, readonly (ProbeSeen | null)[]>
}

export function createObservations(bus: Bus, now: () => number): Observations {
  const session = randomUUID()
  const watched = new Map<number, Watched>()
  const subscription = bus.subscribe(rolloutObservedSubject, (message) => {
    const of = message.session === session ? watched.get(message.group) : undefined
    if (!of) return
    const heardAt = now()
    const known = message.isWhole ? [] : (of.agents.get(message.agentId) ?? [])
    known.push(...message.spans.map((span) => toSpan(span, heardAt)))
    of.agents.set(message.agentId, known.slice(-spansKept))
    of.probes.set(message.agentId, message.probes.map(toProbeSeen))
  })
  const read = ({ groupId }: RolloutRecord, agentId: number): readonly Span[] =>
    watched.get(groupId)?.agents.get(agentId) ?? []

  const readProbes = ({ groupId }: RolloutRecord, agentId: number) =>
    watched.get(groupId)?.probes.get(agentId) ?? []

  return {
    observe: (rollouts) => {
      const groups = new Set(rollouts.map(({ groupId }) => groupId))
      for (const group of watched.keys()) if (!groups.has(group)) watched.delete(group)
      for (const rollout of rollouts) if (rollout.state !== rolloutStates.RollingBack) ask(rollout)
    },
    read: (rollout, agentId) => {
      const spans = read(rollout, agentId)
      const startedAt = findStart(rollout, agentId)
      const { programName } = rollout.sources
      const since = spans.filter(({ program, at }) => program === programName && at >= startedAt)
      return {
        since,
        before: spans.filter(
          ({ program, at }) => program !== programName && at >= startedAt - baselineMs,
        ),
        // What came before any second of the new release was of the old one.
        probes: alignProbes(rollout, since.length > 0 ? readProbes(rollout, agentId) : []),
      }
    },
    readControl: (rollout, agentId) => {
      const from = now() - controlMs
      return read(rollout, agentId).filter(({ at }) => at >= from)
    },
    bakedSeconds: (rollout) => {
      const wave = rollout.waves[rollout.wave - 1]
      const from = wave?.switchedAt ?? null
      if (wave === undefined || from === null) return 0
      const { programName } = rollout.sources
      const observed = wave.agents.map(({ id }) =>
        read(rollout, id)
          .filter(({ program, at }) => program === programName && at > from)
          .reduce((sum, { seconds }) => sum + seconds, 0),
      )
      return Math.max(0, ...observed)
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
    const { agents = new Map<number, Span[]>(), probes = new Map<number, []>() } = known ?? {}
    watched.set(group, { askedAtMs: nowMs, agents, probes })
    const agentIds = waves.flatMap(({ agents }) => agents.map(({ id }) => id))
    const everyMs = Math.min(Math.max(agentIds.length * perAgentMs, oftenMs), seldomMs)
    const order = { group, session, everyMs, forMs: observeForMs, probes: listProbes(policy) }
    bus.publish(rolloutObserveSubject, { agentIds, order })
  }
}

/** When the wave of this agent began: what it served under this name before is not of this rollout. */
function findStart({ waves }: RolloutRecord, agentId: number): number {
  const wave = waves.find(({ agents }) => agents.some(({ id }) => id === agentId))
  return wave?.startedAt ?? Number.POSITIVE_INFINITY
}

function toSpan({ ageMs, figures, ...span }: ObservedSpan, heardAt: number): Span {
  const [requests = 0, errors = 0, hits = 0, misses = 0, ...firstByte] = figures ?? []
  return {
    ...span,
    at: heardAt - ageMs,
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

/** By the place of each gate in the policy. */
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
