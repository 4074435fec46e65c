/** Backend health as an agent reports it: healthy and sick backends of each serving VCL. */
import { Type } from 'typebox'
import { list, matching, orNull, whole, type Fitting } from '../resources/json-fields.js'

/** The limit for all VCLs of a cache together; backends beyond it are only counted. */
export const maxReportedBackends = 1_000
/** The limit per cache: one VCL for each group placed there. */
export const maxServedVcls = 1_000

/** In UTF-16 units; names in the cache are far shorter. */
export const maxReportedNameLength = 255
const name = matching(/^[^\p{Cc}\p{Cs}]{1,255}$/u, 'a name of at most 255 characters')
const count = whole(0, 1_000_000)

const sickBackend = Type.Object({
  name,
  /** Epoch milliseconds of the cache's host; null when its release does not report it. */
  since: orNull(whole(0)),
})

const servedVcl = Type.Object({
  name,
  /** Names of backends in VCL. */
  healthy: list(name, maxReportedBackends),
  sick: list(sickBackend, maxReportedBackends),
  /** How many backends exceed the limit of the lists. */
  omitted: Type.Object({ healthy: count, sick: count }),
})
export type ServedVcl = Fitting<typeof servedVcl>

export const servedVcls = Type.Refine(
  list(servedVcl, maxServedVcls),
  (vcls) => countNamed(vcls) <= maxReportedBackends,
  () => `must have at most ${maxReportedBackends} backends together`,
)

function countNamed(vcls: readonly Pick<ServedVcl, 'healthy' | 'sick'>[]): number {
  return vcls.reduce((sum, { healthy, sick }) => sum + healthy.length + sick.length, 0)
}
