/** What a rollout is at, in words, and what may be said to it. Values in, values out. */
import {
  agentInWaveStates,
  rolloutStates,
  type AgentInWave,
  type GateResult,
  type Rollout,
} from '../../../../resources/rollout.js'
import { formatValue, type Unit } from '../../../charts/format-value.js'
import { unknown } from '../../../parts/quantity.js'

/** `RolledBack` as people read it. */
export function wordOfState(name: string): string {
  const words = name.replaceAll(/([a-z])([A-Z])/g, '$1 $2')
  return words.slice(0, 1) + words.slice(1).toLowerCase()
}

/** "wave 2 of 3". */
export function describeWave({ wave, waves }: Pick<Rollout, 'wave' | 'waves'>): string {
  if (wave === 0) return `no wave of ${waves.length} begun`
  return `wave ${wave} of ${waves.length}`
}

/** "Rollout 7 to revision 5: Baking, wave 1 of 3". */
export function describeRollout(rollout: Rollout): string {
  const { id, revision, stateName } = rollout
  return `Rollout ${id} to revision ${revision}: ${wordOfState(stateName)}, ${describeWave(rollout)}`
}

type Bake = Pick<Rollout, 'bakedSeconds'> & {
  readonly policy: Pick<Rollout['policy'], 'bake' | 'maxBake'>
}

/** How long it has been observed of how long it is to be. */
export function describeBake({ bakedSeconds, policy }: Bake): string {
  const { bake = 0, maxBake = bake } = policy
  if (bakedSeconds < bake || maxBake <= bake)
    return `Observed for ${Math.min(bakedSeconds, bake)} of ${bake} s`
  return `Observed for ${bakedSeconds} s: prolonged to at most ${maxBake} s, since a gate is inconclusive`
}

/** Of 1. */
export function measureBake({ bakedSeconds, policy }: Bake): number {
  const { bake = 0, maxBake = bake } = policy
  const whole = bakedSeconds < bake ? bake : maxBake
  return whole <= 0 ? 1 : Math.min(1, bakedSeconds / whole)
}

/** How the wave with this place is: the verdict once it has ended. */
export function judgeWave(
  rollout: Pick<Rollout, 'wave' | 'waves' | 'stateName' | 'endedAt'>,
  at: number,
): string {
  const { wave, waves, stateName, endedAt } = rollout
  const shown = waves[at]
  if (!shown || at >= wave) return endedAt === null ? 'waiting' : 'not begun'
  if (shown.endedAt !== null) return shown.verdict ?? 'ended'
  return at === wave - 1 ? wordOfState(stateName).toLowerCase() : 'ended'
}

/** In the order in which an agent goes through them. */
export function countStates(agents: readonly AgentInWave[]) {
  return agentInWaveStates
    .map((state) => ({ state, count: agents.filter((one) => one.state === state).length }))
    .filter(({ count }) => count > 0)
}

export type RolloutVerb = 'pause' | 'resume' | 'advance' | 'abort'

/** What the API would take now. */
export function listVerbs({ state }: Pick<Rollout, 'state'>): readonly RolloutVerb[] {
  const { Switching, Baking, Paused } = rolloutStates
  if (state === Switching) return ['pause', 'abort']
  if (state === Baking) return ['pause', 'advance', 'abort']
  return state === Paused ? ['resume', 'advance', 'abort'] : []
}

interface GateKind {
  readonly title: string
  /** Null: it has no figures. */
  readonly unit: Unit | null
}

const gateKinds: Readonly<Record<string, GateKind>> = {
  errors: { title: 'Errors (5xx)', unit: 'share' },
  hitRatio: { title: 'Hit ratio', unit: 'share' },
  backendFailures: { title: 'Failed backend requests', unit: 'share' },
  firstByte: { title: 'Time to first byte', unit: 'milliseconds' },
  backendsHealthy: { title: 'Healthy backends', unit: 'count' },
  restarts: { title: 'Restarts', unit: 'count' },
  probe: { title: 'Probe', unit: null },
  webhook: { title: 'Webhook', unit: null },
}

/** One that this page does not know bears its name in the API. */
export function nameGate(name: string): string {
  return gateKinds[name]?.title ?? name
}

export function formatFigure(name: string, value: number | null): string {
  const unit = gateKinds[name]?.unit ?? null
  if (value === null || unit === null) return unknown
  // Beside each other parts of a millisecond say nothing.
  return formatValue(unit, unit === 'milliseconds' && value >= 10 ? Math.round(value) : value)
}

/** Those that fail first, then those that say nothing; else as in the policy. */
export function sortGates(gates: readonly GateResult[]): readonly GateResult[] {
  const ranks = ['fail', 'inconclusive', 'pass']
  return gates.toSorted((a, b) => ranks.indexOf(a.verdict) - ranks.indexOf(b.verdict))
}

/** So long the end of a rollout is shown as what happens now, ms. */
const recentMs = 600_000

/** What the deploy tab shows: the one that runs, or that has just ended; `known`: the newest first. */
export function findShown(known: readonly Rollout[], nowMs: number): Rollout | null {
  const [newest] = known
  if (!newest) return null
  const isRecent = newest.endedAt === null || nowMs - Date.parse(newest.endedAt) < recentMs
  return isRecent ? newest : null
}
