/**
 * `cachefleet apply`: plans the steps that make an organization's objects match a folder's documents. Objects refer to each other by name.
 * An object belongs to at most one set, by default named after the folder. `prune` deletes objects of this set that no longer have a
 * document.
 */
import { planDeploys, type DeployStep, type FileVersions } from './apply-deploys.js'
import {
  applyKinds,
  keyOf,
  referencesOf,
  type ApplyKind,
  type ApplyObject,
  type ApplyReference,
  type FieldValue,
  type PresentObject,
  type WantedObject,
} from './apply-objects.js'

export interface FieldChange {
  readonly field: string
  readonly from: FieldValue
  readonly to: FieldValue
}

export type ApplyStep =
  | (ApplyObject & { readonly action: 'create' })
  | (ApplyObject & {
      readonly action: 'update'
      readonly id: number
      readonly changes: readonly FieldChange[]
      /** The set takes ownership of the object. */
      readonly takes: boolean
    })
  | {
      readonly action: 'undeploy'
      readonly kind: 'vclgroup'
      readonly name: string
      readonly id: number
    }
  | DeployStep
  | {
      readonly action: 'delete'
      readonly kind: ApplyKind
      readonly name: string
      readonly id: number
    }

/** Why the plan must not run; `kind` and `name` identify the document, or the object if there is no document. */
interface ApplyRefusal {
  readonly kind: ApplyKind
  readonly name: string
  readonly problem: string
}

export interface ApplyInput {
  readonly set: string
  readonly wanted: readonly WantedObject[]
  readonly present: readonly PresentObject[]
  /** Names of shared agents' tags, which documents may reference but not change. */
  readonly sharedTags: ReadonlySet<string>
  readonly prune: boolean
  /** Objects of other sets, or of no set, move to this set. */
  readonly adopt: boolean
}

export interface ApplyPlan {
  readonly steps: readonly ApplyStep[]
  readonly refusals: readonly ApplyRefusal[]
}

/**
 * Groups leave their agents before others are deployed, because a leaving group may block another. Pruned objects are deleted last, when
 * nothing refers to them any more.
 */
export function planApply(input: ApplyInput): ApplyPlan {
  const present = new Map(input.present.map((object) => [keyOf(object), object]))
  const wanted = new Map(input.wanted.map((object) => [keyOf(object), object]))
  const pruned = findPruned(input, wanted)
  const writes = inOrder(input.wanted).flatMap((object) =>
    planWrite(input, object, present.get(keyOf(object))),
  )
  return {
    steps: [
      ...writes,
      ...planUndeploys(input.wanted, present, pruned),
      ...planDeploys(input.wanted, { present, files: versionsAfter(input.present, writes) }),
      ...inOrder(pruned)
        .toReversed()
        .map(({ kind, name, id }): ApplyStep => ({ action: 'delete', kind, name, id })),
    ],
    refusals: [...findForeign(input, present), ...findLoose(input, { present, wanted, pruned })],
  }
}

/** A tag that an agent still reports is kept; it is pruned once no agent reports it. */
function findPruned(
  { set, prune, present }: ApplyInput,
  wanted: ReadonlyMap<string, WantedObject>,
): readonly PresentObject[] {
  if (!prune) return []
  return present.filter(
    (object) => object.managedBy === set && !wanted.has(keyOf(object)) && object.isSent !== true,
  )
}

function inOrder<T extends ApplyObject>(objects: readonly T[]): readonly T[] {
  return objects.toSorted((a, b) => applyKinds.indexOf(a.kind) - applyKinds.indexOf(b.kind))
}

/** An existing object that belongs to no set is updated but stays without one, so it is never pruned. */
function planWrite(
  { set, adopt }: ApplyInput,
  { kind, name, fields }: WantedObject,
  before: PresentObject | undefined,
): ApplyStep[] {
  if (!before) return [{ action: 'create', kind, name, fields }]
  const changes = Object.entries(fields)
    .map(([field, to]) => ({ field, from: before.fields[field] ?? null, to }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to))
  const takes = adopt && before.managedBy !== set
  if (changes.length === 0 && !takes) return []
  return [{ action: 'update', kind, name, id: before.id, fields, changes, takes }]
}

function planUndeploys(
  wanted: readonly WantedObject[],
  present: ReadonlyMap<string, PresentObject>,
  pruned: readonly PresentObject[],
): ApplyStep[] {
  const stopped = wanted
    .filter(({ deployed }) => deployed === false)
    .flatMap((object) => present.get(keyOf(object)) ?? [])
  return [...stopped, ...pruned]
    .filter(({ kind, deployed }) => kind === 'vclgroup' && deployed === true)
    .map(({ name, id }) => ({ action: 'undeploy', kind: 'vclgroup', name, id }))
}

/** The newest version of each file after the writes; a new file starts at 1. */
function versionsAfter(
  present: readonly PresentObject[],
  writes: readonly ApplyStep[],
): FileVersions {
  const versions = new Map<string, number>()
  for (const { kind, name, version = 0 } of present)
    if (kind === 'file') versions.set(name, version)
  for (const step of writes) {
    if (step.kind !== 'file') continue
    if (step.action === 'create') versions.set(step.name, 1)
    if (step.action === 'update' && step.changes.some(({ field }) => field === 'sha'))
      versions.set(step.name, (versions.get(step.name) ?? 0) + 1)
  }
  return versions
}

function findForeign(
  { set, adopt, wanted }: ApplyInput,
  present: ReadonlyMap<string, PresentObject>,
): ApplyRefusal[] {
  if (adopt) return []
  return wanted.flatMap((object) => {
    const owner = present.get(keyOf(object))?.managedBy ?? null
    if (owner === null || owner === set) return []
    const problem =
      `belongs to the set ${JSON.stringify(owner)}, this is ${JSON.stringify(set)}; without a document here it can ` +
      'still be referred to by name, and --adopt takes it over'
    return [{ kind: object.kind, name: object.name, problem }]
  })
}

interface Sides {
  readonly present: ReadonlyMap<string, PresentObject>
  readonly wanted: ReadonlyMap<string, WantedObject>
  readonly pruned: readonly PresentObject[]
}

/**
 * Finds references to missing objects and to objects that would be pruned. For existing objects without a document only the latter is
 * checked, because not every object that they refer to was read.
 */
function findLoose(
  { present: before, sharedTags }: ApplyInput,
  { present, wanted, pruned }: Sides,
): ApplyRefusal[] {
  const gone = new Set(pruned.map(keyOf))
  const staying = before.filter((object) => !gone.has(keyOf(object)) && !wanted.has(keyOf(object)))
  const isThere = ({ kind, name }: ApplyReference): boolean =>
    wanted.has(keyOf({ kind, name })) ||
    present.has(keyOf({ kind, name })) ||
    (kind === 'tag' && sharedTags.has(name))
  return [...wanted.values(), ...staying].flatMap((object) =>
    referencesOf(object).flatMap((reference) => {
      const { field } = reference
      const what = `${reference.kind} ${JSON.stringify(reference.name)}`
      const { kind, name } = object
      if (gone.has(keyOf(reference))) {
        const problem = `${field}: ${what} would be pruned, and this refers to it; give it a document, or refer to it no more`
        return [{ kind, name, problem }]
      }
      if (isThere(reference) || !wanted.has(keyOf(object))) return []
      const problem = `${field}: there is no ${what}, neither in the folder nor on the coordinator`
      return [{ kind, name, problem }]
    }),
  )
}
