/** Generators of what the deciding code is given. Small worlds: names and ids collide often. */
import fc from 'fast-check'
import { idleVclName, type DesiredEngine } from '../../src/domain/desired-engine.js'

/** What a cache holds, with what only the cache knows: which labels a VCL returns. */
export interface EngineWorld {
  readonly vcls: readonly {
    readonly name: string
    readonly labelOf: string | null
    readonly returns: readonly string[]
  }[]
  readonly active: string | null
  readonly childRunning: boolean
  readonly ours: readonly string[]
}

const programNames = ['cf-1-aaaaaaaa-1', 'cf-1-aaaaaaaa-2', 'cf-2-bbbbbbbb-1', 'cf-r-cccccccc']
const labelNames = ['cf-l-1', 'cf-l-2']
const foreignNames = ['boot', 'handmade', 'cf-idle-2']
const anyName = [...programNames, ...labelNames, ...foreignNames, idleVclName]

export const desiredEngines: fc.Arbitrary<DesiredEngine> = fc
  .uniqueArray(fc.constantFrom(...programNames))
  .chain((names) => {
    const targets = [...names, idleVclName]
    return fc.record({
      load: fc.constant(names.map((name) => ({ name, sha: `sha of ${name}` }))),
      labels: fc.uniqueArray(
        fc.record({ label: fc.constantFrom(...labelNames), program: fc.constantFrom(...targets) }),
        { selector: (label) => label.label },
      ),
      active: fc.constantFrom(...targets),
    })
  })

/** Programs first, then labels of them; the last VCLs may return labels. Any name may be a program or a label. */
export const engineWorlds: fc.Arbitrary<EngineWorld> = fc
  .record({
    names: fc.uniqueArray(fc.constantFrom(...anyName), { maxLength: 7 }),
    split: fc.nat({ max: 7 }),
    picks: fc.array(fc.nat({ max: 20 }), { minLength: 14, maxLength: 14 }),
    returns: fc.array(fc.boolean(), { minLength: 14, maxLength: 14 }),
    active: fc.nat({ max: 8 }),
    childRunning: fc.boolean(),
    ours: fc.subarray(anyName),
  })
  .map(({ names, split, picks, returns, active, childRunning, ours }) => {
    const programs = names.slice(0, split)
    const labels = programs.length === 0 ? [] : names.slice(split)
    const labelOf = new Map(
      labels.map((name, at) => [name, programs[(picks[at] ?? 0) % programs.length] ?? '']),
    )
    const targets = new Set(labelOf.values())
    const vcls = [...programs, ...labels].map((name, at) => ({
      name,
      labelOf: labelOf.get(name) ?? null,
      // A VCL that a label stands for returns none: so there is no loop.
      returns:
        labelOf.has(name) || targets.has(name) || returns[at] !== true ? [] : labels.slice(0, 2),
    }))
    const there = vcls.map(({ name }) => name)
    const serving = there[active % (there.length + 1)] ?? null
    // A child runs only with an active VCL; it may have been stopped with one.
    return { vcls, active: serving, childRunning: childRunning && serving !== null, ours }
  })
