/** Whether a load balancer should send requests to this cache (docs/behaviour.md, Health of a cache). Pure. */
import type { EngineInventory } from '../../vcl/engine-inventory.js'
import type { DesiredEngine } from '../../vcl/desired-engine.js'

/** Stable, because monitoring refers to them. None contains the name of a VCL, a host or a person. */
type HealthReason = 'cache-stopped' | 'cache-unreachable' | 'other-vcl' | 'draining' | 'behind'

export interface HealthFacts {
  readonly cache: 'running' | 'stopped' | 'unreachable'
  /** The cache serves what the saved state requires. */
  readonly servesDesired: boolean
  readonly draining: boolean
  /** As the coordinator last reported. */
  readonly behind: boolean
  readonly isLinked: boolean
}

export interface Health {
  readonly status: 'healthy' | 'unhealthy'
  readonly reasons: readonly HealthReason[]
}

/** An unreachable coordinator makes no cache unhealthy: its last report about invalidations may be old. */
export function judgeHealth(facts: HealthFacts): Health {
  const { cache, servesDesired, draining, behind, isLinked } = facts
  const reasons: HealthReason[] = [
    ...(cache === 'running' ? [] : [`cache-${cache}` as const]),
    ...(cache === 'running' && !servesDesired ? (['other-vcl'] as const) : []),
    ...(draining ? (['draining'] as const) : []),
    ...(behind && isLinked ? (['behind'] as const) : []),
  ]
  return { status: reasons.length === 0 ? 'healthy' : 'unhealthy', reasons }
}

/** Compares what serves clients: the active VCL and the targets of labels. VCL that is only loaded is ignored. */
export function servesDesired(
  { active, labels }: Pick<DesiredEngine, 'active' | 'labels'>,
  { vcls }: EngineInventory,
): boolean {
  const targets = new Map(vcls.map(({ name, labelOf }) => [name, labelOf]))
  return (
    vcls.some((vcl) => vcl.active && vcl.name === active) &&
    labels.every(({ label, program }) => targets.get(label) === program)
  )
}
