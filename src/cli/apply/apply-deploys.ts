/** Decides which groups `cachefleet apply` deploys, why, and in which order. */
import {
  keyOf,
  type ApplyFields,
  type Pins,
  type PresentObject,
  type WantedObject,
} from './apply-objects.js'

/** File name → newest version. */
export type FileVersions = ReadonlyMap<string, number>

export interface DeployStep {
  readonly action: 'deploy'
  readonly kind: 'vclgroup'
  readonly name: string
  /** Null: the group does not exist yet. */
  readonly id: number | null
  /** For example `its sources changed`. */
  readonly reason: string
}

/** If the document omits `deployed`, the group is redeployed only if it is deployed now. */
export function planDeploys(
  wanted: readonly WantedObject[],
  {
    present,
    files,
  }: { readonly present: ReadonlyMap<string, PresentObject>; readonly files: FileVersions },
): DeployStep[] {
  const deploys = wanted.flatMap((group) => {
    const before = present.get(keyOf(group))
    const isDesired = group.deployed ?? before?.deployed ?? false
    if (group.kind !== 'vclgroup' || !isDesired) return []
    const reason = findReason(group.fields, before, files)
    if (reason === null) return []
    const rank = rankOf(group.fields, before?.pins)
    return [{ rank, step: toStep(group.name, before?.id ?? null, reason) }]
  })
  return deploys.toSorted((a, b) => a.rank - b.rank).map(({ step }) => step)
}

function toStep(name: string, id: number | null, reason: string): DeployStep {
  return { action: 'deploy', kind: 'vclgroup', name, id, reason }
}

/** Why a deploy would change the group's caches; null if it would not. */
function findReason(
  fields: ApplyFields,
  before: PresentObject | undefined,
  files: FileVersions,
): string | null {
  if (before?.deployed !== true) return 'it is not deployed'
  const { pins } = before
  if (!pins) return 'its deploy is under way'
  if (!isSameSources(fields, pins, files)) return 'its sources changed'
  if (!isSameList(fields['domains'], pins.domains)) return 'its domains changed'
  if (!isSameList(fields['deployments'], pins.deployments)) return 'its deployments changed'
  if (!isSameList(fields['releases'], pins.releases)) return 'its releases changed'
  if (pins.pending) return 'it waits for agents'
  return before.hasFailed === true ? 'a cache failed to load it' : null
}

function isSameSources(fields: ApplyFields, pins: Pins, files: FileVersions): boolean {
  const main = String(fields['mainVCL'])
  const wanted = new Map<string, unknown>()
  for (const name of namesOf(fields['includes'])) wanted.set(name, files.get(name))
  wanted.set(main, fields['mainVersion'] ?? files.get(main))
  return (
    pins.mainVCL === main &&
    pins.files.size === wanted.size &&
    [...wanted].every(([name, version]) => pins.files.get(name) === version)
  )
}

/** Groups that give up domains go first; groups that only gain domains go last. */
function rankOf(fields: ApplyFields, pins: Pins | undefined): number {
  const wanted = namesOf(fields['domains'])
  const held = pins?.domains ?? []
  const gains = wanted.some((name) => !held.includes(name))
  const gives = held.some((name) => !wanted.includes(name))
  if (gives) return gains ? 1 : 0
  return gains ? 2 : 1
}

function isSameList(a: unknown, b: readonly string[]): boolean {
  return JSON.stringify(namesOf(a).toSorted()) === JSON.stringify(b.toSorted())
}

function namesOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}
