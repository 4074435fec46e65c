/**
 * Plans the steps from a cache's list of certificates to the desired ones (docs/behaviour.md, Certificates). Pure.
 *
 * The list is not always right. If a child dies, its manager still knows the staged certificates, but the new child does not; after a
 * rollback a certificate may stay in the child's list without being served (vtls_rollback_one in 9.0.2). `resync` fixes both: it
 * drops what is staged, and the child then has exactly what its manager holds.
 */
import type { CertificateRow } from '../../../protocol/commands/tls.js'
import { certificateIdOf, type DesiredCertificate } from '../../vcl/desired-certificates.js'

/** A certificate that this agent loaded. */
export interface CertificateClaim {
  readonly name: string
  readonly sha: string
  /**
   * `loading`: saved before the load, and not seen committed. `discarded`: the manager is known not to hold it, or never did, so its
   * file may be deleted.
   */
  readonly state: 'loading' | 'committed' | 'discarded'
}

export type CertificateStep =
  | { readonly do: 'resync' }
  | { readonly do: 'load'; readonly name: string; readonly sha: string }
  | { readonly do: 'discard'; readonly name: string }
  | { readonly do: 'commit' }
  | { readonly do: 'forget'; readonly name: string }

interface Seen {
  readonly desired: readonly DesiredCertificate[]
  readonly rows: readonly CertificateRow[]
  readonly claims: readonly CertificateClaim[]
  /** The list is known to be wrong: the manager knows a name that its child does not, or the child read a wrong file. */
  readonly isDoubtful?: boolean
}

/** Empty when nothing is left to do. Must be planned anew after each commit, each resync and each failure. */
export function planCertificates(seen: Seen): readonly CertificateStep[] {
  const steps = planSteps(seen)
  const own = new Set(seen.claims.map(({ name }) => name))
  // A commit would also commit what somebody else staged.
  const isOthers = ({ id, status }: CertificateRow) => status !== 'active' && !own.has(id)
  const touches = steps.some((step) => step.do !== 'forget')
  return touches && seen.rows.some(isOthers) ? [{ do: 'resync' }] : steps
}

function planSteps({ desired, rows, claims, isDoubtful }: Seen): readonly CertificateStep[] {
  const wanted = new Map(desired.map((one) => [one.name, one]))
  const listed = new Map(rows.map((row) => [row.id, row]))
  const own = claims.filter(({ name, state }) => state !== 'discarded' || listed.has(name))
  if (isDoubtful === true || own.some((claim) => isUnclear(claim, { wanted, rows })))
    return [{ do: 'resync' }]

  const load = (isStaged: boolean): CertificateStep[] =>
    desired
      .filter(({ name, staged = false }) => staged === isStaged && !listed.has(name))
      .map(({ name, sha }) => ({ do: 'load', name, sha }))
  const discards = own
    .filter(({ name }) => !isToServe(name, wanted) && listed.get(name)?.status === 'active')
    .map(({ name }): CertificateStep => ({ do: 'discard', name }))
  const changes = [...load(false), ...discards, ...loadAgain(own, { wanted, listed })]
  const staged = own.filter(({ name }) => listed.get(name)?.status === 'staged')
  const isUncommitted = own.some(({ name }) => {
    const status = listed.get(name)?.status
    return status === 'discard' || (status === 'staged' && wanted.get(name)?.staged !== true)
  })
  if (changes.length > 0 || isUncommitted) {
    // A commit would include it.
    if (staged.some(({ name }) => wanted.get(name)?.staged === true)) return [{ do: 'resync' }]
    return [...changes, { do: 'commit' }]
  }
  const further = load(true)
  if (further.length > 0) return further
  return claims
    .filter(({ name }) => !wanted.has(name) && !listed.has(name))
    .map(({ name }) => ({ do: 'forget', name }))
}

interface Known {
  readonly wanted: ReadonlyMap<string, DesiredCertificate>
  readonly listed: ReadonlyMap<string, CertificateRow>
}

/**
 * Two committed versions of a certificate have the same names, and 9.0.2 serves neither once one of them is discarded (tested): the
 * remaining one is loaded again in the same commit.
 */
function loadAgain(
  own: readonly CertificateClaim[],
  { wanted, listed }: Known,
): readonly CertificateStep[] {
  const active = own.filter(({ name }) => listed.get(name)?.status === 'active')
  const leaving = new Set(
    active.filter(({ name }) => !isToServe(name, wanted)).map(({ name }) => certificateIdOf(name)),
  )
  return active
    .filter(({ name }) => isToServe(name, wanted) && leaving.has(certificateIdOf(name)))
    .flatMap(({ name, sha }) => [
      { do: 'discard', name },
      { do: 'load', name, sha },
    ])
}

/** False for one that should only be staged: if it serves because a new child read it after a crash, it is staged anew. */
function isToServe(name: string, wanted: Known['wanted']): boolean {
  const one = wanted.get(name)
  return one !== undefined && one.staged !== true
}

/** True when the list does not show what the manager holds of it. */
function isUnclear(
  { name, state }: CertificateClaim,
  {
    wanted,
    rows,
  }: {
    readonly wanted: ReadonlyMap<string, DesiredCertificate>
    readonly rows: readonly CertificateRow[]
  },
): boolean {
  const own = rows.filter(({ id }) => id === name)
  const [row] = own
  if (own.length > 1) return true
  if (row === undefined) return state === 'loading' && !wanted.has(name)
  if (row.status === 'active') return state === 'loading'
  // Staged and no longer wanted, or about to be discarded and wanted again.
  return row.status === 'staged' ? !wanted.has(name) : wanted.has(name)
}

/**
 * The feasible certificates: one that does not load is replaced by the version of it that served before.
 */
export function findFeasibleCertificates(
  desired: readonly DesiredCertificate[],
  failed: ReadonlySet<string>,
  claims: readonly CertificateClaim[],
): readonly DesiredCertificate[] {
  const feasible = new Map(
    desired.filter(({ name }) => !failed.has(name)).map((one) => [one.name, one]),
  )
  for (const { name } of desired.filter((one) => failed.has(one.name) && one.staged !== true)) {
    const others = claims.filter(
      (claim) =>
        certificateIdOf(claim.name) === certificateIdOf(name) &&
        !failed.has(claim.name) &&
        !desired.some((one) => one.name === claim.name),
    )
    const earlier =
      others.findLast(({ state }) => state === 'committed') ??
      others.findLast(({ state }) => state === 'discarded')
    if (earlier && !feasible.has(earlier.name))
      feasible.set(earlier.name, { name: earlier.name, sha: earlier.sha })
  }
  return [...feasible.values()]
}

/** After a resync manager and child agree: whatever the child lists is committed, and nothing else is held. */
export function settleClaims(
  claims: readonly CertificateClaim[],
  rows: readonly CertificateRow[],
): readonly CertificateClaim[] {
  const active = new Set(rows.filter(({ status }) => status === 'active').map(({ id }) => id))
  return claims.map(({ name, sha }) => ({
    name,
    sha,
    state: active.has(name) ? 'committed' : 'discarded',
  }))
}

export function describeCertificateStep(step: CertificateStep): string {
  switch (step.do) {
    case 'resync':
      return 'certificates read anew'
    case 'load':
      return `certificate ${step.name} loaded`
    case 'discard':
      return `certificate ${step.name} discarded`
    case 'commit':
      return 'certificates committed'
    case 'forget':
      return `the file of certificate ${step.name} removed`
  }
}
