/** Describes the state of a rollout in words and lists its possible actions. Pure functions. */
import {
  agentInWaveStates,
  rolloutStates,
  type AgentInWave,
  type GateResult,
  type Rollout,
} from '../../../../resources/rollout.js'
import { formatValue, type Unit } from '../../../charts/format-value.js'
import { unknown } from '../../../parts/quantity.js'

/** Returns a state name such as `RolledBack` as words. */
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

/** The time observed so far, of the time required. */
export function describeBake({ bakedSeconds, policy }: Bake): string {
  const { bake = 0, maxBake = bake } = policy
  if (bakedSeconds < bake || maxBake <= bake)
    return `Observed for ${Math.min(bakedSeconds, bake)} of ${bake} s`
  return `Observed for ${bakedSeconds} s: prolonged to at most ${maxBake} s, since a gate is inconclusive`
}

/** From 0 to 1. */
export function measureBake({ bakedSeconds, policy }: Bake): number {
  const { bake = 0, maxBake = bake } = policy
  const whole = bakedSeconds < bake ? bake : maxBake
  return whole <= 0 ? 1 : Math.min(1, bakedSeconds / whole)
}

/** The state of the wave at this index; its verdict once it has ended. */
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

/** In the order in which an agent passes through the states. */
export function countStates(agents: readonly AgentInWave[]) {
  return agentInWaveStates
    .map((state) => ({ state, count: agents.filter((one) => one.state === state).length }))
    .filter(({ count }) => count > 0)
}

export type RolloutVerb = 'pause' | 'resume' | 'advance' | 'abort'

/** The actions that the API would accept now. */
export function listVerbs({ state }: Pick<Rollout, 'state'>): readonly RolloutVerb[] {
  const { Switching, Baking, Paused } = rolloutStates
  if (state === Switching) return ['pause', 'abort']
  if (state === Baking) return ['pause', 'advance', 'abort']
  return state === Paused ? ['resume', 'advance', 'abort'] : []
}

interface GateKind {
  readonly title: string
  /** Null: the gate has no figures. */
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

/** Unknown gates keep their API name. */
export function nameGate(name: string): string {
  return gateKinds[name]?.title ?? name
}

export function formatFigure(name: string, value: number | null): string {
  const unit = gateKinds[name]?.unit ?? null
  if (value === null || unit === null) return unknown
  // In a comparison, fractions of a millisecond are meaningless.
  return formatValue(unit, unit === 'milliseconds' && value >= 10 ? Math.round(value) : value)
}

/** Failed gates first, then inconclusive ones; otherwise in the order of the policy. */
export function sortGates(gates: readonly GateResult[]): readonly GateResult[] {
  const ranks = ['fail', 'inconclusive', 'pass']
  return gates.toSorted((a, b) => ranks.indexOf(a.verdict) - ranks.indexOf(b.verdict))
}

/** How long an ended rollout is still shown as current, in ms. */
const recentMs = 600_000

/** Returns the rollout for the deploy tab: the running or just ended one; `known`: newest first. */
export function findShown(known: readonly Rollout[], nowMs: number): Rollout | null {
  const [newest] = known
  if (!newest) return null
  const isRecent = newest.endedAt === null || nowMs - Date.parse(newest.endedAt) < recentMs
  return isRecent ? newest : null
}
