/** What a cache with several groups must hold, the order of its changes, and what is never placed together. */
import fc from 'fast-check'
import t from 'tap'
import { findFeasible } from '../../../src/agent/apply/feasible.js'
import {
  indexAgents,
  noteDomains,
  recordPlacement,
} from '../../../src/coordinator/fleet/agent-index.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import {
  composeDesired,
  composeNextRouting,
  idleEngine,
  idleVclName,
  type PlacedProgram,
  type PlacedPrograms,
} from '../../../src/vcl/desired-engine.js'
import { placeGroup } from '../../../src/coordinator/placement/placement.js'
import { parseSources } from '../../../src/coordinator/fleet/vcl-group.js'
import { planVcl } from '../../../src/vcl/plan.js'
import { withTags } from './placement-world.js'

const programs = fc.record({
  version: fc.integer({ min: 1, max: 3 }),
  fqdns: fc.subarray(['a.example', '*.example', 'b.example'], { minLength: 1 }),
})

/** Groups with domains on one agent; program names differ by group, as in the tables. */
const places: fc.Arbitrary<PlacedPrograms[]> = fc
  .uniqueArray(
    fc.record({
      groupId: fc.integer({ min: 1, max: 4 }),
      current: fc.option(programs),
      candidate: fc.option(programs),
      previous: fc.option(programs),
    }),
    { selector: ({ groupId }) => groupId, maxLength: 4 },
  )
  .map((groups) =>
    groups.map(({ groupId, ...three }) => {
      const program = (one: typeof three.current): PlacedProgram | null =>
        one && {
          name: `cf-${groupId}-0000000${one.version}-1`,
          sha: String(one.version),
          fqdns: one.fqdns.map((fqdn) => fqdn.replace('example', `g${groupId}.example`)),
        }
      return {
        groupId,
        organizationId: null,
        current: program(three.current),
        candidate: program(three.candidate),
        previous: program(three.previous),
      }
    }),
  )

void t.test(
  'every label that the routing VCLs return exists, whatever becomes of a candidate',
  (t) => {
    const property = fc.property(places, (groups) => {
      const { desired, routings } = composeDesired(groups)
      const candidates = groups.flatMap(({ candidate, current }) =>
        candidate && candidate.name !== current?.name ? [candidate.name] : [],
      )
      const inventory = { childRunning: false, vcls: [] }
      const feasible = findFeasible(desired, new Set(candidates), inventory).desired
      const there = new Map(feasible.labels.map(({ label, program }) => [label, program]))
      for (const { text, name } of routings) {
        if (!feasible.load.some((program) => program.name === name)) throw new Error('not loaded')
        for (const [, label = ''] of text.matchAll(/vcl\((cf-l-\d+)\)/g))
          if (!there.has(label)) throw new Error(`${label} is missing`)
      }
      if (candidates.some((name) => [...there.values()].includes(name)))
        throw new Error('a label stands for what did not compile')
      planVcl({ desired: feasible, inventory, managed: new Set() }) // throws when it contradicts itself
    })

    fc.assert(property, { numRuns: 2000 })
    t.end()
  },
)

void t.test('phase two compiles nothing when all loaded groups switch together', (t) => {
  const property = fc.property(places, (groups) => {
    const before = composeDesired(groups).desired
    const switched = groups.map((group) => ({
      ...group,
      current: group.candidate ?? group.current,
      candidate: null,
    }))
    const after = composeDesired(switched).desired
    const loaded = new Set(before.load.map(({ name }) => name))
    const missing = after.load.filter(({ name }) => !loaded.has(name))
    if (missing.length > 0) throw new Error(JSON.stringify(missing))
    const next = composeNextRouting(groups)?.name ?? idleVclName
    if (after.active !== next) throw new Error(`${after.active}, not ${next}`)
  })

  fc.assert(property, { numRuns: 2000 })
  t.end()
})

void t.test('the tenancy of a cache follows from the programs that serve there', (t) => {
  const root = { name: 'cf-1-00000001-1', sha: '1', fqdns: null }
  const named = { ...root, fqdns: ['a.example'] }
  const place = { groupId: 1, organizationId: 3, current: null, candidate: root, previous: null }
  t.same(composeDesired([]), { desired: idleEngine, routings: [] })
  t.equal(composeDesired([place]).desired.tenancy, undefined, 'nothing serves yet')
  const serving = { ...place, current: root, candidate: named }
  t.equal(composeDesired([serving]).desired.tenancy, 'root-3')
  t.equal(composeDesired([{ ...serving, organizationId: null }]).desired.tenancy, 'root-0')
  t.equal(composeDesired([{ ...serving, current: named }]).desired.tenancy, 'domains')
  t.same(parseSources('{"sha":"x"}').domains, [], 'as written by an earlier version')
  t.end()
})

void t.test(
  'everything is banned right before the new VCL becomes active, and only when needed',
  (t) => {
    const loaded = (name: string, active: boolean) => ({ name, active, labelOf: null })
    const inventory = { childRunning: true, vcls: [loaded('old', true), loaded('new', false)] }
    const desired = { load: [{ name: 'new', sha: '1' }], labels: [], active: 'new' }
    const managed = new Set(['old', 'new'])
    const verbs = (more: object) =>
      planVcl({ desired, inventory, managed, ...more }).map((step) => step.do)
    t.same(verbs({ banFirst: true }), ['ban', 'use', 'discard'])
    t.same(verbs({}), ['use', 'discard'])
    const vcls = [loaded('new', true)]
    t.same(
      verbs({ banFirst: true, inventory: { childRunning: true, vcls } }),
      [],
      'it is active already',
    )
    const stopped = { childRunning: false, vcls: [] }
    t.notOk(verbs({ banFirst: true, inventory: stopped }).includes('ban'), 'it holds no objects')
    t.end()
  },
)

void t.test(
  'placement never puts a domain twice on an agent, nor anything beside a root group',
  (t) => {
    const groups = fc.array(
      fc.record({
        fqdns: fc.subarray(['a', 'b', 'c', '*.a']),
        max: fc.integer({ min: 1, max: 4 }),
      }),
      { maxLength: 10 },
    )
    const property = fc.property(groups, fc.integer({ min: 1, max: 5 }), (wanted, count) => {
      const agents = indexAgents(
        Array.from({ length: count }, (_, at) => ({
          id: at + 1,
          state: agentStates.Running,
          tagIds: [1],
          groupIds: [],
          rootGroupId: null,
        })),
      )
      const held = new Map<number, { fqdns: readonly string[] }[]>()
      for (const [at, { fqdns, max }] of wanted.entries()) {
        const deployments = [{ id: 1, min: 1, max, target: withTags(1) }]
        const group = { id: at + 1, root: fqdns.length === 0, fqdns, deployments }
        const decision = placeGroup({ group, agents, placed: [] })
        recordPlacement(agents, group, decision)
        for (const { agentId } of decision.add)
          held.set(agentId, [...(held.get(agentId) ?? []), { fqdns }])
      }
      for (const there of held.values()) {
        const all = there.flatMap(({ fqdns }) => fqdns)
        if (new Set(all).size < all.length) throw new Error(`twice: ${all.join()}`)
        if (there.length > 1 && there.some(({ fqdns }) => fqdns.length === 0))
          throw new Error('a root group is not alone')
      }
    })

    fc.assert(property, { numRuns: 2000 })

    const agents = indexAgents([
      { id: 1, state: agentStates.Running, tagIds: [1], groupIds: [5], rootGroupId: null },
    ])
    noteDomains(agents, [{ agentId: 1, fqdn: 'a', groupId: 5 }])
    recordPlacement(agents, { id: 5, root: false }, { add: [], remove: [{ agentId: 1 }] })
    const deployments = [{ id: 1, min: 1, max: 1, target: withTags(1) }]
    const group = { id: 6, root: false, fqdns: ['a'], deployments }
    t.equal(placeGroup({ group, agents, placed: [] }).add.length, 1, 'leaving frees its domains')
    t.end()
  },
)
