/** Backends as an agent reports them: healthy or sick, of each VCL that serves. */
import { Type } from 'typebox'
import { list, matching, orNull, whole, type Fitting } from '../resources/json-fields.js'

/** Of all VCLs of a cache together; what has no room is counted. */
export const reportedBackendsMost = 1_000
/** Of a cache: one for each group that is placed there. */
export const servedVclsMost = 1_000

/** In UTF-16 units; the cache's own names are far shorter. */
export const reportedNameMost = 255
const name = matching(/^[^\p{Cc}\p{Cs}]{1,255}$/u, 'a name of at most 255 characters')
const count = whole(0, 1_000_000)

const sickBackend = Type.Object({
  name,
  /** Epoch milliseconds of the cache's host; null where its release does not tell. */
  since: orNull(whole(0)),
})

const servedVcl = Type.Object({
  name,
  /** By their names in VCL. */
  healthy: list(name, reportedBackendsMost),
  sick: list(sickBackend, reportedBackendsMost),
  /** Those that the lists have no room for. */
  omitted: Type.Object({ healthy: count, sick: count }),
})
export type ServedVcl = Fitting<typeof servedVcl>

export const servedVcls = Type.Refine(
  list(servedVcl, servedVclsMost),
  (vcls) => countNamed(vcls) <= reportedBackendsMost,
  () => `must have at most ${reportedBackendsMost} backends together`,
)

function countNamed(vcls: readonly Pick<ServedVcl, 'healthy' | 'sick'>[]): number {
  return vcls.reduce((sum, { healthy, sick }) => sum + healthy.length + sick.length, 0)
}
