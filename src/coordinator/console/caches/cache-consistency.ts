/** Compares the desired state of a cache with what the cache reports. Pure. */
import { idleVclName, type DesiredEngine } from '../../../vcl/desired-engine.js'
import { isShownAs, type ShownParam } from '../../../vcl/param-value.js'
import { settableParams } from '../../../vcl/settings-plan.js'

export interface SeenVcl {
  readonly name: string
  /** active | available */
  readonly status: string
  /** The VCL that a label stands for. */
  readonly label: string | null
}

interface SeenParam extends ShownParam {
  readonly description: string
}

export interface CacheObservation {
  readonly vcls: readonly SeenVcl[]
  readonly params: ReadonlyMap<string, SeenParam>
  /** The agent reported its cache as matching the desired state. */
  readonly isEffective: boolean
}

export interface Consistency {
  /** The VCL in use; empty if none. */
  readonly vclName: string
  readonly vclConsistent: boolean
  /** Parameters that differ from the desired state. */
  readonly paramChangeset: ReadonlyMap<string, SeenParam>
}

export function judgeConsistency(
  desired: DesiredEngine,
  observation: CacheObservation,
): Consistency {
  const vclName = observation.vcls.find(({ status }) => status === 'active')?.name ?? ''
  return {
    vclName,
    vclConsistent: isServing(desired, vclName, observation),
    paramChangeset: new Map(
      settableParams(desired).flatMap(({ name, value }) => {
        const shown = observation.params.get(name)
        if (shown && isShownAs(value, shown)) return []
        return [[name, shown ?? noSuchParam]]
      }),
    ),
  }
}

/** Only the serving VCL counts, not what is loaded for a deploy or a rollback. */
function isServing(
  desired: DesiredEngine,
  vclName: string,
  observation: CacheObservation,
): boolean {
  // Until the first deploy an unmanaged VCL may serve, and only the agent can tell (docs/behaviour.md, Takeover).
  if (desired.active === idleVclName && observation.isEffective) return vclName !== ''
  const targets = new Map(observation.vcls.map(({ name, label }) => [name, label]))
  return (
    vclName === desired.active &&
    desired.labels.every(({ label, program }) => targets.get(label) === program)
  )
}

const noSuchParam: SeenParam = {
  value: '',
  default: '',
  unit: '',
  description: 'this release of the cache has no such parameter',
}
