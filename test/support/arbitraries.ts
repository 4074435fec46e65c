/** Generators of inputs for the decision functions. Small worlds: names and ids collide often. */
import fc from 'fast-check'
import type { PlacementAgent } from '../../src/coordinator/fleet/agent-index.js'
import { agentStates } from '../../src/resources/agent-state.js'
import { idleVclName, type DesiredEngine } from '../../src/vcl/desired-engine.js'
import {
  placeEverywhere,
  type Place,
  type PlacementGroup,
} from '../../src/coordinator/fleet/placement-input.js'
import type { VclText } from '../../src/vcl/bundle.js'

/** State of a cache, including what only the cache knows: which labels a VCL returns. */
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

/** Programs first, then labels for them; the last VCLs may return labels. Any name may be a program or a label. */
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
      // A VCL with a label returns none, so there is no loop.
      returns:
        labelOf.has(name) || targets.has(name) || returns[at] !== true ? [] : labels.slice(0, 2),
    }))
    const there = vcls.map(({ name }) => name)
    const serving = there[active % (there.length + 1)] ?? null
    // A child runs only with an active VCL; it may have been stopped with one.
    return { vcls, active: serving, childRunning: childRunning && serving !== null, ours }
  })

/** Complete pieces of VCL: none has a string or comment that continues on the next line. */
export const vclPieces: fc.Arbitrary<string> = fc.constantFrom(
  ...['sub a {', '}', 'set req.http.x = "é;";', 'include', ';', '{"long "string"}', '# comment'],
  ...['// include "x";', '/* include\n"x"; */', '"""a "b\n" c"""', ':AQID:', 'C{ int; }C', '10s'],
  ...['\t', ' ', 'import std;', '!~', '"#"', '"/*"', 'x-y_z', '4.1'],
)

/** Texts in which delimiters meet in every way, mostly invalid VCL. */
export const vclTexts: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      vclPieces,
      fc.constantFrom('"', '""', '"""', '{"', '"}', '/*', '*/', '//', '#', 'C{', '}C', '/', '*'),
      fc.constantFrom('\n', '\n', ' ', '\t', '\r\n', 'a', '{', '}', ';', 'é', 'C'),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''))

export interface VclFiles {
  readonly main: VclText
  readonly includes: ReadonlyMap<string, VclText>
}

const fileNames = ['main.vcl', 'a.vcl', 'b.vcl', 'c.vcl']

/** A main file and three includes; a file includes only later ones, in several spellings and anywhere on a line. */
export function vclFilesOf(pieces: fc.Arbitrary<string>): fc.Arbitrary<VclFiles> {
  const texts = fileNames.map((_, at) => {
    const later = fileNames.slice(at + 1)
    const statement = fc
      .constantFrom('include "N";', 'include {"N"};', 'include/* "x"; */"N"\n\t;', 'é=include "N";')
      .chain((form) => fc.constantFrom(...later, '').map((name) => form.replace('N', name)))
      .filter((text) => !text.includes('""'))
    const part = later.length === 0 ? pieces : fc.oneof({ arbitrary: pieces, weight: 3 }, statement)
    const gap = fc.constantFrom('', ' ', '\t', '\n')
    return fc.array(fc.tuple(part, gap), { maxLength: 8 }).map((parts) => parts.flat().join(''))
  })
  return fc.tuple(...texts).map((written) => {
    const files = fileNames.map((name, at) => ({ name, text: written[at] ?? '' }))
    const [main = { name: '', text: '' }, ...others] = files
    return { main, includes: new Map(others.map((file) => [file.name, file])) }
  })
}

export interface PlacementWorld {
  readonly group: PlacementGroup
  readonly agents: readonly PlacementAgent[]
  readonly placed: readonly Place[]
}

const tagIds = fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 4 })
const placementDeployments = fc
  .record({
    min: fc.integer({ min: 1, max: 3 }),
    more: fc.nat({ max: 3 }),
    tagIds: tagIds.filter((tags) => tags.length > 0),
  })
  .map(({ min, more, tagIds }) => ({
    min,
    max: min + more,
    target: { kind: 'tags' as const, tagIds },
  }))

const cacheReleases = [
  { product: 'varnish', version: '7.1.1' },
  { product: 'varnish', version: '6.0.17' },
  { product: 'vinyl', version: '9.0.1' },
  { product: '', version: '' },
]

/**
 * A group, by deployments or with named agents, and a small fleet; some agents hold the group, others hold other groups or a
 * root group, or are named by another group. The caches have several releases, or an unknown one, and the group may be
 * limited to some.
 */
export const placementWorlds: fc.Arbitrary<PlacementWorld> = fc
  .record({
    root: fc.boolean(),
    deployments: fc.array(placementDeployments, { minLength: 1, maxLength: 3 }),
    areNamed: fc.boolean(),
    releases: fc.constantFrom(null, null, ['7'], ['6.0', 'vinyl-9']),
    agents: fc.array(
      fc.record({
        state: fc.constantFrom(...Object.values(agentStates), 1 as const, 1 as const, 1 as const),
        tagIds,
        others: fc.uniqueArray(fc.integer({ min: 100, max: 104 }), { maxLength: 3 }),
        otherRoot: fc.boolean(),
        member: fc.constantFrom('own', 'own', null, null, 'other'),
        release: fc.constantFrom(...cacheReleases),
        place: fc.option(fc.nat({ max: 2 })),
        position: fc.nat({ max: 1000 }),
      }),
      { maxLength: 12 },
    ),
  })
  .map(({ root, deployments, areNamed, releases, agents }) => {
    const named = new Set(agents.flatMap(({ member }, at) => (member === 'own' ? [at + 1] : [])))
    const asked = areNamed
      ? [placeEverywhere({ kind: 'members', agentIds: named })]
      : deployments.map((deployment, at) => ({ id: at + 1, ...deployment }))
    const group = { id: 7, root, releases, deployments: asked }
    const placed = agents.flatMap(({ place, position }, at) =>
      place === null ? [] : [{ agentId: at + 1, deploymentId: areNamed ? 0 : place + 1, position }],
    )
    return {
      group,
      placed,
      agents: agents.map(({ state, tagIds, others, otherRoot, member, place, release }, at) => {
        const rootOfOthers = otherRoot ? (others[0] ?? null) : null
        const groupIds = [...(place === null ? [] : [group.id]), ...others]
        const rootGroupId = rootOfOthers ?? (root && place !== null ? group.id : null)
        const own = areNamed && member === 'own' ? group.id : null
        const memberOf = member === 'other' ? 200 : own
        return { id: at + 1, state, release, tagIds, groupIds, rootGroupId, memberOf }
      }),
    }
  })
