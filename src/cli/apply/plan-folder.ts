/** Builds a plan from the folder and the coordinator, with every refusal that can be found without changing anything. */
import { applyKinds, keyOf, referencesOf, type ApplyKind } from './apply-objects.js'
import { planApply, type ApplyPlan } from './apply-plan.js'
import { findNameProblem } from '../../resources/names.js'
import type { Api } from '../api.js'
import { idOf, isFields, nameOf, type Fields } from '../api-shapes.js'
import { exitCodes, usageError } from '../cli-error.js'
import { isSet, textFlag, type Invocation } from '../verb.js'
import { Ids, type Sides } from './bodies.js'
import { Problems } from './problems.js'
import { readDocuments } from './documents.js'
import { openFolder } from './folder.js'
import { requireAll } from './may-apply.js'
import { readPresent, type Present } from './present.js'
import { readWanted, type WantedEntry } from './wanted.js'

export interface Applying {
  readonly invocation: Invocation
  readonly api: Api
  readonly whoami: Fields
  readonly set: string
  readonly plan: ApplyPlan
  readonly entries: readonly WantedEntry[]
  readonly sides: Sides
}

export async function planFolder(invocation: Invocation): Promise<Applying> {
  const { set, entries } = await readFolder(invocation)
  const api = await invocation.openApi()
  const whoami = await api.readObject('/auth/whoami')
  requireOwn(entries, whoami)
  const kinds = findKinds(entries, isSet(invocation, 'prune'))
  requireAll(
    whoami,
    [...kinds].map((type) => ({ type, access: 'read' })),
  )
  const present = await readPresent(api, kinds, idOf(whoami['organization']))
  const plan = planApply({
    set,
    wanted: entries.map(({ object }) => object),
    present: present.objects,
    sharedTags: new Set(present.sharedTags.keys()),
    prune: isSet(invocation, 'prune'),
    adopt: isSet(invocation, 'adopt'),
  })
  refuse(plan, entries)
  return { invocation, api, whoami, set, plan, entries, sides: toSides(entries, present) }
}

async function readFolder(
  invocation: Invocation,
): Promise<{ readonly set: string; readonly entries: readonly WantedEntry[] }> {
  const path = textFlag(invocation, 'folder')
  if (path === undefined) throw usageError('-f DIR is missing: which folder?')
  const folder = await openFolder(path)
  const problems = new Problems()
  const documents = await readDocuments(folder, problems)
  const { set: written, entries } = await readWanted(folder, documents, problems)
  problems.check()
  const set = textFlag(invocation, 'set') ?? written ?? folder.name
  const problem = findNameProblem(set)
  if (problem !== null) throw usageError(`--set is ${JSON.stringify(set)}: ${problem}`)
  return { set, entries }
}

/** Only objects of the login's own organization are accepted, because names are unique only within one. */
function requireOwn(entries: readonly WantedEntry[], { organization: own }: Fields): void {
  const problems = new Problems()
  for (const { organization, at } of entries) {
    const isOwn = isFields(organization)
      ? idOf(organization) === idOf(own) || nameOf(organization) === nameOf(own)
      : organization === undefined || organization === null || organization === nameOf(own)
    if (!isOwn)
      problems.add(
        at('organization'),
        'organization: apply works in the organization of the login; leave the key out',
      )
  }
  problems.check()
}

/** The kinds to read in order to plan; with prune, all of them. */
function findKinds(entries: readonly WantedEntry[], prune: boolean): ReadonlySet<ApplyKind> {
  if (prune) return new Set(applyKinds)
  const objects = entries.map(({ object }) => object)
  const referred = objects.flatMap((object) => referencesOf(object).map(({ kind }) => kind))
  const used = new Set<ApplyKind>([...objects.map(({ kind }) => kind), ...referred])
  // The plan shows the pinned deployments and the placements by name.
  if (used.has('vclgroup')) used.add('deployment')
  if (used.has('deployment')) used.add('tag')
  return new Set(applyKinds.filter((kind) => used.has(kind)))
}

function toSides(entries: readonly WantedEntry[], present: Present): Sides {
  return {
    wanted: new Map(entries.map(({ object }) => [keyOf(object), object])),
    present: new Map(present.objects.map((object) => [keyOf(object), object])),
    sources: new Map(
      entries.flatMap(({ object, source }) => (source ? [[object.name, source]] : [])),
    ),
    ids: new Ids(present.objects, present.sharedTags),
  }
}

/** Reports each refusal at the line of its field. */
function refuse({ refusals }: ApplyPlan, entries: readonly WantedEntry[]): void {
  const problems = new Problems()
  for (const { kind, name, problem } of refusals) {
    const entry = entries.find(({ object }) => keyOf(object) === keyOf({ kind, name }))
    const [field] = problem.split(':', 1)
    problems.add(entry?.at(field) ?? '', `${kind} ${JSON.stringify(name)}: ${problem}`)
  }
  problems.check(exitCodes.refused)
}
