/**
 * The desired state of one cache, composed from all groups placed on its agent (docs/behaviour.md, Desired state). In phase one of a deploy
 * the desired state loads the candidate beside the serving VCL; phase two makes it current.
 */
import { Type } from 'typebox'
import { list, sha256, text, whole, type Fitting } from '../resources/json-fields.js'
import { compileBudget, findBudget } from './compile-limits.js'
import { desiredCertificates } from './desired-certificates.js'
import { desiredSettings } from './engine-settings.js'
import { labelName, makeRoutingVcl, type RoutingVcl } from './routing.js'

/** A cache holds a few hundred of our VCLs at most. */
export const maxPrograms = 10_000

/** A VCL, by its name on the cache and the digest of its flattened text. */
const desiredProgram = Type.Object({
  name: text,
  sha: sha256,
  /** For an organization's VCL on an agent that it does not own; agents of an earlier version have no budgets. */
  budget: Type.Optional(compileBudget),
})
export type DesiredProgram = Fitting<typeof desiredProgram>

const desiredLabel = Type.Object({ label: text, program: text })
export type DesiredLabel = Fitting<typeof desiredLabel>

export const desiredEngine = Type.Object({
  load: list(desiredProgram, maxPrograms),
  labels: list(desiredLabel, maxPrograms),
  /** Name of the VCL to use: a program of `load`, or the idle VCL. */
  active: text,
  /**
   * Identifies the owners of the objects that the cache may serve; if absent, it stays unchanged. When it changes, everything is banned
   * before the switch, because root VCL sees all stored objects.
   */
  tenancy: Type.Optional(text),
  /** The group of `active`, if the name does not show it: an adopted VCL keeps its old name. */
  rootGroup: Type.Optional(whole(1)),
  /** Absent: no certificates. */
  certificates: Type.Optional(desiredCertificates),
  ...desiredSettings.properties,
})
export type DesiredEngine = Fitting<typeof desiredEngine>

/** The VCL of a cache without a deployment: responds with 503 (docs/behaviour.md, Takeover). */
export const idleVclName = 'cf-idle'
export const idleVclSource = `vcl 4.0;
backend default { .host = "127.0.0.1"; .port = "9"; }
sub vcl_recv { return (synth(503, "No deployment")); }
`

/** A VCL of a group and the domains that it serves. */
export interface PlacedProgram extends DesiredProgram {
  /** In the group's order; null for a root group, whose VCL is the only one on the cache. */
  readonly fqdns: readonly string[] | null
}

/** A group's VCLs on one agent's cache. */
export interface PlacedPrograms {
  readonly groupId: number
  readonly organizationId: number | null
  /** True for the group's stage. */
  readonly stage?: boolean
  /** The group that takes over this place at its next switch here; null or absent if there is none. */
  readonly replacedBy?: number | null
  /** The serving VCL; null before the first switch. */
  readonly current: PlacedProgram | null
  /** The VCL that phase one of a deploy loads beside it. */
  readonly candidate: PlacedProgram | null
  /** The VCL that served before; it stays loaded, so that a rollback is only a switch. */
  readonly previous: PlacedProgram | null
}

/** The desired state of an agent without placements. */
export const idleEngine: DesiredEngine = { load: [], labels: [], active: idleVclName }

interface ComposedEngine {
  readonly desired: DesiredEngine
  /** The generated VCLs that `desired` loads: the current routing, and the routing of phase two if it differs. */
  readonly routings: readonly RoutingVcl[]
}

/** @param agent owner of the agent; null if shared by all */
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

/** A root group is alone on its cache. For an idle cache there is no tenancy. */
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

/** The current routing; null if no group has domains. */
export function composeRouting(groups: readonly PlacedPrograms[]): RoutingVcl | null {
  return routeTo(groups, ({ current }) => current)
}

/** The routing after the loading groups have switched; it is compiled before the switch. */
export function composeNextRouting(groups: readonly PlacedPrograms[]): RoutingVcl | null {
  return routeTo(groups, (group) => (isTaken(group) ? null : (group.candidate ?? group.current)))
}

/** True if both the VCL and the domains are equal. */
export function isSameProgram(a: PlacedProgram | null, b: PlacedProgram | null): boolean {
  return isSameLoad(a, b) && hasSameNames(a, b)
}

/**
 * True if both are the same load of the same text. An adopted VCL has a different name on each cache, so only its text is compared; a
 * reload gives it a counted name, which is unique.
 */
export function isSameLoad(a: DesiredProgram | null, b: DesiredProgram | null): boolean {
  if (a === null || b === null) return a === b
  return a.name === b.name || (a.sha === b.sha && !isCountedName(a) && !isCountedName(b))
}

/** A name from `programName`, counted from our first load on. */
function isCountedName({ name, sha }: DesiredProgram): boolean {
  const [, sha8, load] = /^cf-\d+-([0-9a-f]{8})-(\d+)$/.exec(name) ?? []
  return sha8 === sha.slice(0, 8) && load !== '0'
}

/** True if a switch between the two leaves the routing VCL unchanged. */
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
 * The routing VCL of phase two needs the label of a group that has never switched, so the label is set to the candidate at once; no request
 * uses it before that VCL is active. Pointing it at another VCL meanwhile, and moving it to a second one, kills the child of 7.1.1 when
 * those VCLs are discarded later (VCP_Rel, tested).
 */
function labelOf({ groupId, stage, current, candidate }: PlacedPrograms): DesiredLabel[] {
  const serves = current?.fqdns ? current : null
  const program = serves ?? (candidate?.fqdns ? candidate : null)
  return program === null ? [] : [{ label: labelName(groupId, stage), program: program.name }]
}

/**
 * The name of a group's VCL on the cache; `load` counts the loads of this text (docs/behaviour.md, Names on the cache). Load 0 is the
 * adopted VCL: caches that join the group later load it under this name.
 */
export function programName(groupId: number, sha: string, load: number): string {
  return `cf-${groupId}-${sha.slice(0, 8)}-${load}`
}

/** The id of the group in the name; null for adopted VCLs, which keep their names, and VCLs of no group. */
export function groupIdOf(program: string): number | null {
  const id = /^cf-(\d{1,15})-/.exec(program)?.[1]
  return id === undefined ? null : Number(id)
}
