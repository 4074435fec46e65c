/**
 * Computes what an unlock would change on a Locked agent's cache: compares the agent's report with the desired state, using the plan that
 * the agent will make once it is unlocked. Pure.
 */
import { idleVclName, type DesiredEngine } from './desired-engine.js'
import { findHealth, type BackendHealth, type DesiredSettings } from './engine-settings.js'
import type { EngineInventory } from './engine-inventory.js'
import type { HeldCache, HeldVcl } from './held-cache.js'
import { settableParams } from './settings-plan.js'
import { leaveUnmanaged, isHeldForFirstDeploy } from './takeover.js'
import { planVcl, type VclStep } from './plan.js'

/** `config.difference` of the API. */
export interface UnlockDifference {
  /** The VCL that becomes active; null if the active one stays. */
  readonly use: string | null
  readonly load: readonly string[]
  readonly labels: readonly { readonly label: string; readonly program: string }[]
  readonly discard: readonly string[]
  /** A null value resets the parameter to its default. */
  readonly params: readonly { readonly name: string; readonly value: string | null }[]
  readonly backends: readonly { readonly name: string; readonly health: BackendHealth }[]
  /** Number of entries that exceed the limits of the lists. */
  readonly omitted: number
}

/** Maximum number of entries per list. */
const maxListed = 100

export function findUnlockDifference(held: HeldCache, desired: DesiredEngine): UnlockDifference {
  const target = toTarget(held, desired)
  const steps = planSteps(held, target)
  const active = findActive(held)?.name ?? null
  const last = steps.findLast((step) => step.do === 'use')?.name ?? active
  const names = new Set(held.vcls.map(({ name }) => name))
  const discarded = steps.flatMap((step) => (step.do === 'discard' ? step.names : []))
  const lists = {
    load: steps.flatMap((step) => (step.do === 'load' ? [step.name] : [])),
    labels: steps.flatMap((step) =>
      step.do === 'label' ? [{ label: step.label, program: step.program }] : [],
    ),
    discard: discarded.filter((name) => names.has(name)),
    params: findParams(held, desired),
    backends: findBackends(held, target),
  }
  const omitted = Object.values(lists).reduce(
    (sum, list) => sum + Math.max(0, list.length - maxListed),
    held.omittedVcls,
  )
  return {
    use: last === active ? null : last,
    load: lists.load.slice(0, maxListed),
    labels: lists.labels.slice(0, maxListed),
    discard: lists.discard.slice(0, maxListed),
    params: lists.params.slice(0, maxListed),
    backends: lists.backends.slice(0, maxListed),
    omitted,
  }
}

/** True if the cache does not change. */
export function isNothing({ use, omitted, ...lists }: UnlockDifference): boolean {
  return use === null && omitted === 0 && Object.values(lists).every((list) => list.length === 0)
}

/** Adopted VCL becomes part of the desired state; before that, nothing else is placed on the agent. */
function toTarget(held: HeldCache, desired: DesiredEngine): DesiredEngine {
  const active = findActive(held)
  const isAdopted = held.takeover === 'adopt' && !held.takenOver && desired.load.length === 0
  if (!isAdopted || active?.labelOf !== null || active.ours) return desired
  return { ...desired, load: [{ name: active.name, sha: '' }], active: active.name }
}

function findActive({ vcls }: HeldCache): HeldVcl | undefined {
  return vcls.find(({ active }) => active)
}

function planSteps(held: HeldCache, target: DesiredEngine): readonly VclStep[] {
  const inventory: EngineInventory = held
  const adopted = target.load.filter(({ sha }) => sha === '').map(({ name }) => name)
  const managed = new Set([
    ...held.vcls.filter((vcl) => vcl.ours).map(({ name }) => name),
    ...adopted,
  ])
  const steps = planVcl({ desired: target, inventory, managed })
  return isHeldForFirstDeploy(held.takeover, held.takenOver, target)
    ? leaveUnmanaged(steps, inventory, managed)
    : steps
}

function findParams(held: HeldCache, desired: DesiredSettings): UnlockDifference['params'] {
  const own = new Map(held.params.map(({ name, value }) => [name, value]))
  const wanted = settableParams(desired)
  const names = new Set(wanted.map(({ name }) => name))
  return [
    ...held.params
      .filter(({ name }) => !names.has(name))
      .map(({ name }) => ({ name, value: null })),
    ...wanted.filter(({ name, value }) => own.get(name) !== value),
  ]
}

/** Covers every VCL to be loaded, because the backends of a VCL are unknown until it is loaded. */
function findBackends(held: HeldCache, target: DesiredEngine): UnlockDifference['backends'] {
  const rules = target.health ?? []
  const own = new Set(held.backends)
  const programs = [...new Set([...target.load.map(({ name }) => name), target.active])]
  const backends = [...new Set(rules.map(({ backend }) => backend))]
  const set = programs.flatMap((vcl) =>
    backends.flatMap((backend) => {
      const health = findHealth(rules, vcl, backend)
      const name = `${vcl}.${backend}`
      return health === undefined || health === 'auto' || own.has(name) || vcl === idleVclName
        ? []
        : [{ name, health }]
    }),
  )
  const reset = held.backends.filter((name) => {
    const dot = name.indexOf('.')
    const vcl = name.slice(0, dot)
    return programs.includes(vcl) && findHealth(rules, vcl, name.slice(dot + 1)) === undefined
  })
  return [...set, ...reset.map((name) => ({ name, health: 'auto' as const }))]
}
