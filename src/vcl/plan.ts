/**
 * Plans the steps from a cache's actual to its desired state (docs/behaviour.md, Desired state). Order: load, label, use, start, save
 * unmanaged VCL, discard. A VCL that may return a label compiles only if the label exists, so labelled VCLs are loaded first, new labels
 * are set before the rest is loaded, and serving labels move last. No step depends on a later one: a plan may stop anywhere and be made
 * again. Labels have no source: they are not saved, and `vcl.show <label>` kills 6.0's child.
 */
import { createHash } from 'node:crypto'
import { idleVclName, idleVclSource, type DesiredEngine } from './desired-engine.js'
import type { EngineInventory, LoadedVcl } from './engine-inventory.js'

export type VclStep =
  | { readonly do: 'load'; readonly name: string; readonly sha: string }
  | { readonly do: 'label'; readonly label: string; readonly program: string }
  | { readonly do: 'use'; readonly name: string }
  /** Bans everything stored, so that the next VCL never serves it. */
  | { readonly do: 'ban' }
  | { readonly do: 'start' }
  /** Saves the source of an unmanaged VCL. */
  | { readonly do: 'save'; readonly name: string }
  /** All or nothing, in one command; one by one in this order if a release accepts only one name (before 6.6). */
  | { readonly do: 'discard'; readonly names: readonly string[] }

interface PlanInput {
  readonly desired: DesiredEngine
  readonly inventory: EngineInventory
  /** Names that the agent loaded or labelled itself; all others are unmanaged. */
  readonly managed: ReadonlySet<string>
  /** The agent started the child but did not see it running, which distinguishes this case from an operator's stop. */
  readonly startUnfinished?: boolean
  /** Stored objects are not for the VCL that becomes active: they are banned right before the switch. */
  readonly banFirst?: boolean
}

/** SHA-256 (hex) of the idle VCL's source. */
export const idleVclSha = createHash('sha256').update(idleVclSource).digest('hex')

/**
 * Returns no steps if the cache is as desired. While the child is stopped, unmanaged VCL is neither saved nor discarded, because `vcl.show`
 * needs the child; the plan made once it runs does that.
 */
export function planVcl(input: PlanInput): VclStep[] {
  const plan = beginPlan(input)
  const blocking = findBlocking(plan)
  if (blocking.length > 0) {
    // A stopped child serves nothing, and without it no unmanaged VCL can be saved.
    if (!plan.running && !plan.mayStart) return []
    makeWay(plan, blocking)
  }
  loadAndLabel(plan)
  useVcl(plan, plan.desired.active)
  clearAway(plan, new Set(findWanted(plan)))
  return plan.steps
}

/** The plan so far, and the contents of the cache after its steps. */
interface Plan {
  readonly desired: DesiredEngine
  /** Name → hash of each VCL to load. */
  readonly programs: ReadonlyMap<string, string>
  readonly labels: ReadonlyMap<string, string>
  readonly steps: VclStep[]
  /** Name → the VCL to which a label refers (null for a VCL itself). */
  readonly loaded: Map<string, string | null>
  readonly managed: Set<string>
  active: string | null
  running: boolean
  readonly mayStart: boolean
  banFirst: boolean
}

function beginPlan(input: PlanInput): Plan {
  const { desired, inventory, managed, startUnfinished = false, banFirst = false } = input
  const programs = new Map(desired.load.map(({ name, sha }) => [name, sha]))
  const labels = new Map(desired.labels.map(({ label, program }) => [label, program]))
  for (const needed of [desired.active, ...labels.values()]) {
    if (needed === idleVclName) programs.set(idleVclName, idleVclSha)
    else if (!programs.has(needed) && !labels.has(needed))
      throw new Error(`the desired state needs ${needed} and does not load it`)
  }
  const active = inventory.vcls.find((vcl) => vcl.active)?.name ?? null
  return {
    desired,
    programs,
    labels,
    steps: [],
    loaded: new Map(inventory.vcls.map((vcl: LoadedVcl) => [vcl.name, vcl.labelOf])),
    managed: new Set(managed),
    active,
    running: inventory.childRunning,
    // A stopped child with an active VCL was stopped on purpose; without one it never ran.
    mayStart: active === null || startUnfinished,
    // A stopped child has no stored objects.
    banFirst: banFirst && inventory.childRunning,
  }
}

/** Everything that may stay, including the idle VCL if it is managed. */
function findWanted(plan: Plan): string[] {
  const mayStay = plan.loaded.get(idleVclName) === null && plan.managed.has(idleVclName)
  const idle = mayStay ? [idleVclName] : []
  return [...plan.programs.keys(), ...plan.labels.keys(), ...idle]
}

/** Names that are needed but taken by something else. A label with a wanted name is simply moved, even if unmanaged. */
function findBlocking(plan: Plan): string[] {
  return [...plan.loaded.keys()].filter((name) => {
    const isLabel = plan.loaded.get(name) !== null
    if (plan.programs.has(name)) return isLabel || !plan.managed.has(name)
    return plan.labels.has(name) && !isLabel
  })
}

/**
 * Handles the rare case that a wanted name is taken. A plain VCL that does not serve is simply discarded. Otherwise a stand-in serves
 * meanwhile, labels are moved away, and the blocking VCLs are discarded with everything that may depend on them.
 */
function makeWay(plan: Plan, blocking: readonly string[]): void {
  const inTheWay = new Set(blocking)
  const isLabelled = (name: string): boolean => [...plan.loaded.values()].includes(name)
  const isPlain = (name: string): boolean =>
    plan.loaded.get(name) === null && !isLabelled(name) && name !== plan.active
  if (plan.active !== null && blocking.every(isPlain)) {
    useVcl(plan, plan.active)
    clearAway(plan, new Set([...plan.loaded.keys()].filter((name) => !inTheWay.has(name))))
    return
  }
  const standIn = findStandIn(plan, inTheWay)
  useVcl(plan, standIn)
  for (const [label, program] of plan.labels) {
    const target = plan.loaded.get(label) ?? null
    if (target === null || !inTheWay.has(target)) continue
    const isThere = plan.loaded.get(program) === null && !inTheWay.has(program)
    moveLabel(plan, label, isThere ? program : loadIdle(plan))
  }
  const kept = findWanted(plan).filter((name) => !inTheWay.has(name))
  const targets = kept.flatMap((name) => plan.loaded.get(name) ?? [])
  clearAway(plan, new Set([standIn, ...kept, ...targets]))
}

/** Loads a stand-in that can be active meanwhile: the desired VCL, its text under another name, or an idle VCL. */
function findStandIn(plan: Plan, inTheWay: ReadonlySet<string>): string {
  const { active, labels } = plan.desired
  const sha = plan.programs.get(active)
  const isThere = plan.loaded.get(active) === null
  // A routing VCL does not compile before its labels exist.
  if (sha === undefined || (!isThere && labels.length > 0)) return loadIdle(plan)
  if (inTheWay.has(active)) {
    const isBare = active === idleVclName || labels.length > 0 || plan.banFirst
    return isBare ? loadIdle(plan) : loadFree(plan, `cf-standin-${sha.slice(0, 8)}`, sha)
  }
  load(plan, active, sha)
  return active
}

/** Responds with 503 for the duration of a load. Uses the idle VCL's name, or a free variant of it. */
function loadIdle(plan: Plan): string {
  return loadFree(plan, idleVclName, idleVclSha)
}

function loadFree(plan: Plan, wanted: string, sha: string): string {
  let name = wanted
  for (let count = 2; isTaken(plan, name); count++) name = `${wanted}-${count}`
  load(plan, name, sha)
  return name
}

/** True if a label, or a VCL that is not ours, has the name. */
function isTaken(plan: Plan, name: string): boolean {
  const there = plan.loaded.get(name)
  return there !== undefined && (there !== null || !plan.managed.has(name))
}

function loadAndLabel(plan: Plan): void {
  const labelled = new Set(plan.labels.values())
  for (const [name, sha] of plan.programs) if (labelled.has(name)) load(plan, name, sha)
  for (const [label, program] of plan.labels)
    if (!plan.loaded.has(label)) moveLabel(plan, label, program)
  for (const [name, sha] of plan.programs) load(plan, name, sha)
  for (const [label, program] of plan.labels) moveLabel(plan, label, program)
}

function load(plan: Plan, name: string, sha: string): void {
  if (plan.loaded.has(name)) return
  plan.steps.push({ do: 'load', name, sha })
  plan.loaded.set(name, null)
  plan.managed.add(name)
}

function moveLabel(plan: Plan, label: string, program: string): void {
  if (plan.loaded.get(label) === program) return
  plan.steps.push({ do: 'label', label, program })
  plan.loaded.set(label, program)
  plan.managed.add(label)
}

function useVcl(plan: Plan, name: string): void {
  if (plan.active !== name) {
    if (plan.banFirst && name === plan.desired.active) {
      plan.steps.push({ do: 'ban' })
      plan.banFirst = false
    }
    plan.steps.push({ do: 'use', name })
  }
  plan.active = name
  if (plan.running || !plan.mayStart) return
  plan.steps.push({ do: 'start' })
  plan.running = true
}

function clearAway(plan: Plan, keep: ReadonlySet<string>): void {
  const names = [...plan.loaded.keys()].filter((name) => !keep.has(name))
  const unmanaged = names.filter((name) => !plan.managed.has(name))
  if (names.length === 0 || (unmanaged.length > 0 && !plan.running)) return
  for (const name of unmanaged.toSorted())
    if (plan.loaded.get(name) === null) plan.steps.push({ do: 'save', name })
  plan.steps.push({ do: 'discard', names: dependentsFirst(plan, names) })
  for (const name of names) plan.loaded.delete(name)
}

/** VCLs that may return a label first, then the labels, then the labelled VCLs. */
function dependentsFirst(plan: Plan, names: readonly string[]): string[] {
  const labelled = new Set(plan.loaded.values())
  const rank = (name: string): number => {
    if (plan.loaded.get(name) !== null) return 1
    return labelled.has(name) ? 2 : 0
  }
  return names.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
}
