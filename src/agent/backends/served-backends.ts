/** The reported backends of a cache: those of the VCLs that serve. Pure. */
import type { Backend } from '../../../protocol/commands/backend.js'
import { groupBy } from '../../group-by.js'
import {
  maxReportedBackends,
  maxReportedNameLength,
  maxServedVcls,
  type ServedVcl,
} from '../../messages/backend-health.js'
import type { LoadedVcl } from '../../vcl/engine-inventory.js'
import { groupOfVcl } from '../../vcl/engine-settings.js'

interface Named {
  readonly vcl: string
  readonly own: string
  readonly backend: Backend
}

/** Sick backends come first if there are too many. Omits a VCL without backends. */
export function describeServed(
  vcls: readonly LoadedVcl[],
  backends: readonly Backend[],
): readonly ServedVcl[] {
  const serving = new Set(listServing(vcls))
  const named = backends
    .filter(isBackend)
    .map(splitName)
    .filter(({ vcl }) => serving.has(vcl))
    .toSorted(
      (a, b) =>
        Number(a.backend.isHealthy) - Number(b.backend.isHealthy) || compare(keyOf(a), keyOf(b)),
    )
  const shown = new Set(
    named.filter(({ own }) => own.length <= maxReportedNameLength).slice(0, maxReportedBackends),
  )
  return [...groupBy(named, ({ vcl }) => vcl)]
    .filter(([vcl]) => vcl.length <= maxReportedNameLength)
    .toSorted(([a], [b]) => compare(a, b))
    .slice(0, maxServedVcls)
    .map(([name, rows]) => toServed(name, rows, shown))
}

/** The active VCL and the targets of labels, except the idle and the routing VCL, which belong to no group. */
function listServing(vcls: readonly LoadedVcl[]): readonly string[] {
  return vcls
    .flatMap(({ name, active, labelOf }) => labelOf ?? (active ? [name] : []))
    .filter((name) => groupOfVcl(name) !== null || !name.startsWith('cf-'))
}

/** False for directors, which derive their health from backends. A release without JSON does not mark them. */
function isBackend({ type }: Backend): boolean {
  return type === null || type === 'backend'
}

function splitName(backend: Backend): Named {
  const dot = backend.name.indexOf('.')
  return { vcl: backend.name.slice(0, dot), own: backend.name.slice(dot + 1), backend }
}

function toServed(name: string, rows: readonly Named[], shown: ReadonlySet<Named>): ServedVcl {
  const [healthy, sick] = [true, false].map((isHealthy) =>
    rows.filter(({ backend }) => backend.isHealthy === isHealthy),
  ) as [Named[], Named[]] // one for each element
  const named = (some: readonly Named[]) => some.filter((one) => shown.has(one))
  return {
    name,
    healthy: named(healthy).map(({ own }) => own),
    sick: named(sick).map(({ own, backend }) => ({ name: own, since: toMs(backend) })),
    omitted: {
      healthy: healthy.length - named(healthy).length,
      sick: sick.length - named(sick).length,
    },
  }
}

function toMs({ lastChangeSeconds: seconds }: Backend): number | null {
  return seconds === null || !(seconds >= 0) ? null : Math.round(seconds * 1000)
}

function keyOf({ vcl, own }: Named): string {
  return `${vcl}.${own}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
