/**
 * What one cache must hold: composed from all groups placed on its agent (docs/behaviour.md, Desired state).
 *
 * Phase one of a deploy is a desired state that loads the candidate beside what serves; phase two makes it current.
 */
import { Type } from 'typebox'
import { list, sha256, text, whole, type Fitting } from '../resources/json-fields.js'
import { compileBudget, findBudget } from './compile-limits.js'
import { desiredCertificates } from './desired-certificates.js'
import { desiredSettings } from './engine-settings.js'
import { labelName, makeRoutingVcl, type RoutingVcl } from './routing.js'

/** A cache holds at most some hundred VCLs of ours. */
export const programsMost = 10_000

/** A VCL by its name on the cache and the digest of its flattened text. */
const desiredProgram = Type.Object({
  name: text,
  sha: sha256,
  /** Of an organization, on an agent that is not its own; an agent of an earlier version has no budgets. */
  budget: Type.Optional(compileBudget),
})
export type DesiredProgram = Fitting<typeof desiredProgram>

const desiredLabel = Type.Object({ label: text, program: text })
export type DesiredLabel = Fitting<typeof desiredLabel>

export const desiredEngine = Type.Object({
  load: list(desiredProgram, programsMost),
  labels: list(desiredLabel, programsMost),
  /** The name to use: a program of `load`, or the idle VCL. */
  active: text,
  /**
   * Whose objects the cache may serve; without one as before. When it changes, everything is banned before the switch:
   * root VCL sees all that is stored.
   */
  tenancy: Type.Optional(text),
  /** Whose VCL `active` is, where its name does not tell: it was adopted under the name that it had. */
  rootGroup: Type.Optional(whole(1)),
  /** Absent: none. */
  certificates: Type.Optional(desiredCertificates),
  ...desiredSettings.properties,
})
export type DesiredEngine = Fitting<typeof desiredEngine>

/** The VCL of a cache without a deployment: answers 503 (docs/behaviour.md, Takeover). */
export const idleVclName = 'cf-idle'
export const idleVclSource = `vcl 4.0;
backend default { .host = "127.0.0.1"; .port = "9"; }
sub vcl_recv { return (synth(503, "No deployment")); }
`

/** A VCL of a group, and what it answers for. */
export interface PlacedProgram extends DesiredProgram {
  /** In the order of the group; null: a root group's, which is the whole VCL of the cache. */
  readonly fqdns: readonly string[] | null
}

/** A group's place on one agent, as far as the cache is concerned. */
export interface PlacedPrograms {
  readonly groupId: number
  readonly organizationId: number | null
  /** It is the group's stage. */
  readonly stage?: boolean
  /** The group that takes this place at its next switch here; null, absent: none. */
  readonly replacedBy?: number | null
  /** What serves now; null before the first switch. */
  readonly current: PlacedProgram | null
  /** What a deploy in phase one loads beside it. */
  readonly candidate: PlacedProgram | null
  /** What served before; stays loaded so that a rollback is a switch. */
  readonly previous: PlacedProgram | null
}

/** The state of an agent before anything was placed on it. */
export const idleEngine: DesiredEngine = { load: [], labels: [], active: idleVclName }

interface ComposedEngine {
  readonly desired: DesiredEngine
  /** The generated VCLs that `desired` loads: the one in use, and the one of phase two when it is another. */
  readonly routings: readonly RoutingVcl[]
}

/** @param agent whose it is; null: shared by all */
export function composeDesired(
  placed: readonly PlacedPrograms[],
  agent: { readonly organizationId: number | null } = { organizationId: null },
): ComposedEngine {
  const groups = placed.toSorted(
    (a, b) => a.groupId - b.groupId || Number(a.stage ?? false) - Number(b.stage ?? false),
  )
  const routing = composeRouting(groups)
  const next = isRoutingChanged(groups) ? composeNextRouting(groups) : null
  const routings = [routing, next].filter((one) => one !== null)
  const programs = groups.flatMap((group) => {
    const budget = findBudget(group.organizationId, agent.organizationId)
    return [group.current, group.candidate, group.previous]
      .filter((one) => one !== null)
      .map(({ name, sha }): DesiredProgram => (budget ? { name, sha, budget } : { name, sha }))
  })
  const generated = routings.map(({ name, sha }): DesiredProgram => ({ name, sha }))
  const load = new Map([...programs, ...generated].map((program) => [program.name, program]))
  const desired = {
    load: [...load.values()],
    labels: groups.flatMap(labelOf),
    ...composeActive(groups, routing),
  }
  return { desired, routings: [...new Map(routings.map((one) => [one.name, one])).values()] }
}

/** A root group is alone there. Nothing says whose objects an idle cache may serve. */
function composeActive(
  groups: readonly PlacedPrograms[],
  routing: RoutingVcl | null,
): Pick<DesiredEngine, 'active' | 'tenancy' | 'rootGroup'> {
  const root = groups.find(({ current }) => current?.fqdns === null)
  if (root?.current) {
    const { name: active } = root.current
    const adopted = groupIdOf(active) === root.groupId ? {} : { rootGroup: root.groupId }
    return { active, tenancy: `root-${root.organizationId ?? 0}`, ...adopted }
  }
  return routing ? { active: routing.name, tenancy: 'domains' } : { active: idleVclName }
}

function isRoutingChanged(groups: readonly PlacedPrograms[]): boolean {
  return groups.some((group) => {
    const { candidate, current } = group
    if (isTaken(group)) return (current?.fqdns ?? null) !== null
    return candidate !== null && !hasSameNames(candidate, current)
  })
}

function isTaken({ replacedBy }: Pick<PlacedPrograms, 'replacedBy'>): boolean {
  return typeof replacedBy === 'number'
}

/** What routes now; null where no group has domains. */
export function composeRouting(groups: readonly PlacedPrograms[]): RoutingVcl | null {
  return routeTo(groups, ({ current }) => current)
}

/** What will route when the groups that load something have switched, so that it is compiled before that. */
export function composeNextRouting(groups: readonly PlacedPrograms[]): RoutingVcl | null {
  return routeTo(groups, (group) => (isTaken(group) ? null : (group.candidate ?? group.current)))
}

/** Both the same VCL and the same names. */
export function isSameProgram(a: PlacedProgram | null, b: PlacedProgram | null): boolean {
  return isSameLoad(a, b) && hasSameNames(a, b)
}

/**
 * One load of one text. Each cache has a VCL that was adopted under a name of its own, so there the text alone counts; a
 * reload gives it a counted name, which no other is equal to.
 */
export function isSameLoad(a: DesiredProgram | null, b: DesiredProgram | null): boolean {
  if (a === null || b === null) return a === b
  return a.name === b.name || (a.sha === b.sha && !isCountedName(a) && !isCountedName(b))
}

/** As `programName` gives it, from the first load of ours on. */
function isCountedName({ name, sha }: DesiredProgram): boolean {
  const [, sha8, load] = /^cf-\d+-([0-9a-f]{8})-(\d+)$/.exec(name) ?? []
  return sha8 === sha.slice(0, 8) && load !== '0'
}

/** A switch from one to the other changes nothing in the routing VCL. */
export function hasSameNames(a: PlacedProgram | null, b: PlacedProgram | null): boolean {
  return JSON.stringify(a?.fqdns?.toSorted()) === JSON.stringify(b?.fqdns?.toSorted())
}

function routeTo(
  groups: readonly PlacedPrograms[],
  choose: (group: PlacedPrograms) => PlacedProgram | null,
): RoutingVcl | null {
  const routes = groups.flatMap((group) =>
    (choose(group)?.fqdns ?? []).map((fqdn) => ({
      fqdn,
      groupId: group.groupId,
      stage: group.stage ?? false,
    })),
  )
  return routes.length === 0 ? null : makeRoutingVcl(routes)
}

/**
 * The routing VCL of phase two needs the label of a group that has never switched: it is set to the candidate at once,
 * which nobody reaches before that VCL is used. A label that stood for another VCL meanwhile, and was moved beside a
 * second one, kills the child of 7.1.1 when their VCLs are discarded later (VCP_Rel, tested).
 */
function labelOf({ groupId, stage, current, candidate }: PlacedPrograms): DesiredLabel[] {
  const serves = current?.fqdns ? current : null
  const program = serves ?? (candidate?.fqdns ? candidate : null)
  return program === null ? [] : [{ label: labelName(groupId, stage), program: program.name }]
}

/**
 * The name of a group's VCL on the cache; `load` counts the loads of this text (docs/behaviour.md, Names on the cache). Load 0
 * is what was adopted: a cache that comes to the group later loads it under this name.
 */
export function programName(groupId: number, sha: string, load: number): string {
  return `cf-${groupId}-${sha.slice(0, 8)}-${load}`
}

/** Whose it is by its name; null: it was adopted and keeps the name that it had, or it is none of a group. */
export function groupIdOf(program: string): number | null {
  const id = /^cf-(\d{1,15})-/.exec(program)?.[1]
  return id === undefined ? null : Number(id)
}
