/** Whether a cache is as it should be: what is desired compared with what the cache itself says. Pure. */
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
  /** The agent found its cache to be as desired. */
  readonly isEffective: boolean
}

export interface Consistency {
  /** The VCL in use; empty when there is none. */
  readonly vclName: string
  readonly vclConsistent: boolean
  /** Parameters that are not as they should be. */
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

/** What serves is judged, not what is loaded for a deploy or a rollback. */
function isServing(
  desired: DesiredEngine,
  vclName: string,
  observation: CacheObservation,
): boolean {
  // Until the first deploy an unmanaged VCL may serve, and the agent knows whether it does (docs/behaviour.md, Takeover).
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
